"""The sentence encoder: embedded, from a folder, or from the hub."""

from functools import lru_cache
from typing import TYPE_CHECKING

from core.embedded import SENTENCE_ENCODER, bring
from core.lm.hub import resolve
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def load_encoder(name: str, settings: Settings) -> "SentenceTransformer":
    """A sentence-transformers model whose `encode` turns sentences into unit vectors."""
    if name == EMBEDDED:
        return _load(str(bring(SENTENCE_ENCODER, settings.cache_dir)))
    return _load(str(resolve(name, what="sentence encoder")))


@lru_cache(maxsize=2)
def _load(folder: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(
        folder, device="cpu", local_files_only=True, model_kwargs={"use_safetensors": True}
    )
