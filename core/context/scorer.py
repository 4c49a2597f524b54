"""The default scorer: the sentence encoder, the head's hidden units and its logistic unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.context.families import load_families
from core.context.head import Floats, Head
from core.context.nearest import Nearest, NearFamily, load_nearest
from core.context.reader import Reader

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, eq=False)
class HeadScorer:
    """Scores sentences with a head; `assets` is the folder with the families' centres."""

    head: Head
    reader: Reader
    encoder: "SentenceTransformer"
    assets: Path

    def scores(self, sentences: Sequence[str], contexts: Sequence[str]) -> Floats:
        """The probability of each sentence: (n,)."""
        return self.head.probabilities(self.reader.features(sentences, contexts))

    def nearest(self, sentence: str, n: int) -> tuple[NearFamily, ...]:
        """The families of training sentences that lie nearest."""
        return self._nearest.find(sentence, n)

    @cached_property
    def _nearest(self) -> Nearest:
        return load_nearest(self.assets, self.encoder, load_families())
