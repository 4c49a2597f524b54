"""The default scorer: the sentence encoder, the head's units, and a second look at what they leave open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.context.head import Floats, Head, sigmoid
from core.context.learning.families import load_families
from core.context.nearest import Nearest, NearFamily, load_nearest
from core.context.reader import Reader

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from core.context.second import SecondLook


@dataclass(frozen=True, eq=False)
class HeadScorer:
    """Scores sentences with a head; `assets` is the folder with the families' centres.

    `second` gives the second look, for a head that has learned to use one.
    """

    head: Head
    reader: Reader
    encoder: "SentenceTransformer"
    assets: Path
    second: "Callable[[], SecondLook] | None" = None

    def scores(self, sentences: Sequence[str], contexts: Sequence[str]) -> Floats:
        """The probability of each sentence: (n,)."""
        return sigmoid(self.logits(sentences, contexts))

    def logits(self, sentences: Sequence[str], contexts: Sequence[str]) -> Floats:
        """The same before it is a probability."""
        logits = self.head.logits(self.reader.features(sentences, contexts))
        both = self.head.both
        if both is None or self.second is None:
            return logits
        asked = np.flatnonzero(both.asked(logits)).tolist()
        if asked:
            looked = self.second().logits([(sentences[i], contexts[i]) for i in asked])
            logits[asked] = both.logits(logits[asked], looked)
        return logits

    def nearest(self, sentence: str, n: int) -> tuple[NearFamily, ...]:
        """The families of training sentences that lie nearest."""
        return self._nearest.find(sentence, n)

    @cached_property
    def _nearest(self) -> Nearest:
        return load_nearest(self.assets, self.encoder, load_families())
