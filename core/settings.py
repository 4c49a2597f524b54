"""One typed settings object, read from SUBMIX_* environment variables and from an `.env` file."""

import os
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import InputError

EMBEDDED = "embedded"


class Settings(BaseSettings):
    """Everything that can be set from outside. The README's table is generated from this class."""

    model_config = SettingsConfigDict(env_prefix="SUBMIX_", env_file=".env", extra="ignore")

    data_dir: Path = Field(
        default=Path.home() / ".local" / "share" / "submix-studio",
        description="Where the database, the ledger's high-water mark, the key and trained ensembles live.",
    )
    cache_dir: Path = Field(
        default=Path.home() / ".cache" / "submix-studio",
        description="Where the embedded models live; can be deleted and is brought again.",
    )
    database_url: str = Field(
        default="",
        description="An SQLAlchemy URL for the ledger and the session log; empty means SQLite in `data_dir`.",
    )
    model: str = Field(
        default=EMBEDDED,
        description="The public language model: `embedded`, a local folder, or a name on the hub.",
    )
    encoder: str = Field(
        default=EMBEDDED,
        description="The sentence encoder: `embedded`, a local folder, or a name on the hub.",
    )
    vectors: str = Field(
        default=EMBEDDED,
        description="Word vectors: `embedded`, or a file: GloVe text, word2vec text or word2vec binary.",
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=7860, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    curator_password: SecretStr | None = Field(
        default=None,
        description="The curator's password; without one nobody is the curator of a private corpus.",
    )
    log_text: bool = Field(
        default=False,
        description="Keep prompts and answers in clear in the session log, also for private corpora.",
    )
    retention_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Session log entries older than this are purged at start; the ledger never is.",
    )
    max_prompt_chars: int = Field(
        default=8_000, ge=1, le=1_000_000, description="Longer prompts are refused with a sentence."
    )
    max_new_tokens: int = Field(
        default=256, ge=1, le=4096, description="The longest answer that may be asked for."
    )
    queue_size: int = Field(
        default=32, ge=1, le=1000, description="Requests that may wait; the next one is told to come back."
    )
    calls_per_minute: int = Field(
        default=600,
        ge=0,
        le=1_000_000,
        description="Calls that one address may make in a minute; 0 for any number.",
    )
    max_upload_mb: int = Field(default=64, ge=1, le=10_240, description="The largest request body, in MB.")
    threads: int = Field(default=0, ge=0, le=1024, description="Threads for the models; 0 lets torch choose.")

    @field_validator("data_dir", "cache_dir")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        return path.expanduser().absolute()

    @property
    def url(self) -> str:
        """The database URL in force."""
        return self.database_url or f"sqlite:///{self.data_dir / 'studio.db'}"

    @property
    def listens(self) -> str:
        """The address to listen on: as set, else as a Space asks for it, else this machine alone."""
        asked = os.environ.get("GRADIO_SERVER_NAME") if os.environ.get("SPACE_ID") else None
        return self.host if "host" in self.model_fields_set or not asked else asked

    @property
    def durable(self) -> bool:
        """Whether the ledger outlives a restart; the disk of a Space does not."""
        return bool(self.database_url) or not os.environ.get("SPACE_ID")


def load_settings() -> Settings:
    """Read the settings; a wrong value becomes one sentence that names the variable."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "SUBMIX_" + "_".join(str(part) for part in first["loc"]).upper()
        raise InputError(f"{name} is not usable: {first['msg']}.") from error


def settings_table() -> str:
    """The README's table of settings, in Markdown."""
    rows = ["| variable | default | what it does |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = str(default).replace(str(Path.home()), "~") if default not in (None, "") else "none"
        rows.append(f"| `SUBMIX_{name.upper()}` | `{shown}` | {field.description} |")
    return "\n".join(rows)
