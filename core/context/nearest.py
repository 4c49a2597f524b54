"""Which families of training sentences lie nearest to a sentence: what the detector was reminded of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.context.learning.families import Family
from core.context.sentences import readable
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

CENTRES = "families.safetensors"


@dataclass(frozen=True)
class NearFamily:
    """A family near a sentence, with the cosine similarity to its centre and its nearest sentence."""

    family: str
    sensitive: bool
    similarity: float
    example: str


class Nearest:
    """The centres of the training families in the space of the whole sentence encoder, which knows topics."""

    def __init__(
        self, encoder: "SentenceTransformer", families: Sequence[Family], centres: NDArray[np.float32]
    ) -> None:
        self._encoder, self._families, self._centres = encoder, tuple(families), centres

    def find(self, sentence: str, n: int) -> tuple[NearFamily, ...]:
        """The n nearest families, best first."""
        own = _embed(self._encoder, [sentence])[0]
        similarities = self._centres @ own
        best = np.argsort(-similarities)[:n]
        return tuple(self._near(self._families[i], float(similarities[i]), own) for i in best)

    def _near(self, family: Family, similarity: float, own: NDArray[np.float32]) -> NearFamily:
        texts = [example.text for example in family.examples()]
        nearest = texts[int(np.argmax(_embed(self._encoder, texts) @ own))]
        return NearFamily(family.name, family.sensitive, similarity, nearest)


def centres(encoder: "SentenceTransformer", families: Sequence[Family]) -> NDArray[np.float32]:
    """The unit centre of each family's sentences: (families, H)."""
    means = []
    for family in families:
        vectors = _embed(encoder, [f"{each.before} {each.text}".strip() for each in family.examples()])
        means.append(vectors.mean(0))
    found = np.stack(means)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def save_centres(folder: Path, families: Sequence[Family], found: NDArray[np.float32]) -> None:
    """Write the centres by the names of their families."""
    from safetensors.numpy import save_file

    save_file(
        {family.name: row.astype(np.float16) for family, row in zip(families, found, strict=True)},
        folder / CENTRES,
    )


def load_nearest(folder: Path, encoder: "SentenceTransformer", families: Sequence[Family]) -> Nearest:
    """The centres that `save_centres` wrote, of the families that are still there."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        known = load_file(folder / CENTRES)
    except (OSError, SafetensorError) as error:
        raise ModelUnavailable(f"The families' centres in {folder} cannot be read: {error}.") from error
    kept = [family for family in families if family.name in known]
    return Nearest(encoder, kept, np.stack([known[family.name] for family in kept]).astype(np.float32))


def _embed(encoder: "SentenceTransformer", texts: Sequence[str]) -> NDArray[np.float32]:
    return encoder.encode(
        [readable(text) for text in texts], show_progress_bar=False, normalize_embeddings=True
    )
