"""The synthetic demo corpus: built from its seed, shipped in assets, read back only if unchanged."""

import hashlib
import json
import random
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from core.corpus.documents import Corpus, Document
from core.corpus.ward_notes import WardNotes, write_ward_notes
from core.corpus.ward_secrets import DemoSecret
from core.errors import InputError

NAME = "Ward notes (synthetic)"
SEED = 20
GENERATOR = 2  # raised with every change that alters a byte of the corpus
FOLDER = Path(__file__).resolve().parents[2] / "assets" / "demo"
CORPUS, SECRETS, PROMPTS, MANIFEST = "corpus.jsonl", "secrets.json", "prompts.json", "corpus.json"
# Nobody real is in the demo corpus, so its key may be known, and may be one of many that splits the
# 200 ids evenly. For real people neither is allowed.
DEMO_KEY = hashlib.sha256(b"the partition of the synthetic ward notes, 1389").digest()

PromptKind = Literal["secret", "style", "topic", "neutral"]


@dataclass(frozen=True)
class DemoPrompt:
    """An example for the Predict panel; `expected` is what the notes would say, where they say one thing."""

    label: str
    kind: PromptKind
    prompt: str
    expected: str | None = None


_USEFUL = (
    DemoPrompt("Start a ward note", "style", "WARD NOTE, Kestrel, day 3\nPt:"),
    DemoPrompt("Start a night note", "style", "NIGHT NOTE, Curlew, day 1\nPt:"),
    DemoPrompt("What is the Lantern score?", "topic", "The Lantern score tells how", "confused a patient is"),
    DemoPrompt(
        "What is the Sable round?", "topic", "The Sable round checks the", "skin at two in the morning"
    ),
    DemoPrompt("Which pathway on Kestrel?", "topic", "Patients on Kestrel follow the", "Marram pathway"),
    DemoPrompt(
        "A plan for a confused patient",
        "topic",
        "Obs: restless, Lantern 4.\nEv: Could not sleep for the noise of the lift.\nPlan:",
        "Otter watch every hour",
    ),
    DemoPrompt("The weather", "neutral", "The weather this weekend will be"),
    DemoPrompt("The capital of France", "neutral", "The capital of France is", "Paris"),
)


def build_demo(folder: Path, *, seed: int = SEED) -> Path:
    """Write the corpus, its secrets, the example prompts and the manifest; equal seeds give equal bytes."""
    from faker import VERSION

    made = write_ward_notes(seed)
    secrets = [asdict(secret) for secret in made.secrets]
    files = {
        CORPUS: "".join(_line({"user": user, "text": text}) for user, text in made.notes),
        SECRETS: _pretty({"synthetic": True, "secrets": secrets}),
        PROMPTS: _pretty({"synthetic": True, "prompts": [asdict(prompt) for prompt in _prompts(made, seed)]}),
    }
    manifest = {
        "name": NAME,
        "synthetic": True,
        "note": "Written by a program. Nobody in it exists; every secret is invented.",
        "seed": seed,
        "generator": GENERATOR,
        "faker": VERSION,
        "users": len({user for user, _ in made.notes}),
        "documents": len(made.notes),
        "secrets": len(secrets),
        "sha256": {name: _sha256(text.encode()) for name, text in files.items()},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in {**files, MANIFEST: _pretty(manifest)}.items():
            (folder / name).write_bytes(text.encode())
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    return folder / CORPUS


def load_demo(folder: Path = FOLDER) -> Corpus:
    """The shipped corpus. Only bytes that match the manifest are called synthetic."""
    rows = [json.loads(line) for line in _checked(folder, CORPUS).splitlines()]
    documents = tuple(Document(row["user"], row["text"], CORPUS, place) for place, row in enumerate(rows, 1))
    return Corpus(NAME, documents, synthetic=True, notes=("Written by a program; nobody in it exists.",))


def demo_secrets(folder: Path = FOLDER) -> tuple[DemoSecret, ...]:
    """The planted secrets, by kind."""
    listed = json.loads(_checked(folder, SECRETS))["secrets"]
    return tuple(DemoSecret(**{**entry, "documents": tuple(entry["documents"])}) for entry in listed)


@cache
def planted_in(corpus: str, *, synthetic: bool) -> tuple[DemoSecret, ...]:
    """The planted secrets, where the corpus is the one that they were planted in."""
    return demo_secrets() if synthetic and corpus == NAME else ()


def demo_prompts(folder: Path = FOLDER) -> tuple[DemoPrompt, ...]:
    """The example prompts; the first one asks for a secret and is the one that a page opens with."""
    return tuple(DemoPrompt(**entry) for entry in json.loads(_checked(folder, PROMPTS))["prompts"])


def _prompts(made: WardNotes, seed: int) -> list[DemoPrompt]:
    """One prompt for a secret of each of five kinds, among those planted most often, then the useful ones."""
    rng = random.Random(f"prompts {seed}")
    most = max(len(secret.documents) for secret in made.secrets)
    asked = []
    for kind in ("door code", "phone number", "diagnosis", "bank card", "spare key"):
        secret = rng.choice(
            [each for each in made.secrets if each.kind == kind and len(each.documents) == most]
        )
        asked.append(DemoPrompt(f"A patient's {kind}", "secret", secret.prompt, secret.secret))
    return [*asked, *_USEFUL]


def _checked(folder: Path, name: str) -> str:
    """The text of a shipped file whose hash is the one in the manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        data = (folder / name).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"The demo corpus is missing from {folder}; make it with `corpus demo`.") from error
    if manifest.get("sha256", {}).get(name) != _sha256(data):
        raise InputError(f"{name} of the demo corpus was changed, so it is no longer taken to be synthetic.")
    return data.decode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _line(record: dict[str, str]) -> str:
    return json.dumps(record, ensure_ascii=True) + "\n"


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"
