"""The public language model h0, which never saw the private text."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from core.embedded import LANGUAGE_MODEL, Progress, bring
from core.errors import ModelUnavailable
from core.lm.hub import resolve
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_CONVERTED = "converted-1"


@dataclass(frozen=True, eq=False)
class PublicModel:
    """A causal language model in float32 with its tokenizer, for inference only."""

    name: str
    folder: Path
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the weight files: an adapter is bound to the model that it was trained on."""
        total = sha256()
        for path in sorted(self.folder.glob("*.safetensors")):
            with path.open("rb") as file:
                total.update(file_digest(file, "sha256").digest())
        return total.hexdigest()

    @property
    def context(self) -> int:
        """The longest sequence, prompt and answer together, in tokens."""
        return int(self.model.config.max_position_embeddings)


def load_public(name: str, settings: Settings, progress: Progress | None = None) -> PublicModel:
    """The public model by name: `embedded`, a local folder, or a name on the hub."""
    if name == EMBEDDED:
        folder = prepare_embedded(settings, progress)
    else:
        folder = resolve(name, what="language model")
    return _load(name, folder)


def prepare_embedded(settings: Settings, progress: Progress | None = None) -> Path:
    """The folder of the embedded model, brought and converted where that was not done yet."""
    return _converted(bring(LANGUAGE_MODEL, settings.cache_dir, progress))


@lru_cache(maxsize=2)
def _load(name: str, folder: Path) -> PublicModel:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(f"{folder} holds no safetensors weights; other formats are not loaded.")
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        raise ModelUnavailable(f"{name!r} does not load as a causal language model: {reason}") from error
    model.eval().requires_grad_(False)
    return PublicModel(name=name, folder=folder, model=model, tokenizer=tokenizer)


def _converted(folder: Path) -> Path:
    """The GGUF file as float32 safetensors, converted once: reading GGUF takes half a minute each time."""
    target = folder / _CONVERTED
    if target.is_dir():
        return target
    try:
        with FileLock(folder.parent / ".convert.lock"):
            if not target.is_dir():
                with tempfile.TemporaryDirectory(dir=folder, prefix=".convert-") as name:
                    staging = Path(name) / "model"
                    _convert(folder, staging)
                    staging.rename(target)
    except OSError as error:
        raise ModelUnavailable(
            f"The language model cannot be converted in {folder} ({error.strerror or error}). "
            f"About 0.7 GB are needed there and {shutil.disk_usage(folder).free / 1e9:.1f} GB are free."
        ) from error
    return target


def _convert(folder: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"gguf_file": "model.gguf", "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **source)
    # The weights are plain floats from here on: what remembers the quantisation would stop them being saved.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(folder, **source).save_pretrained(target)
