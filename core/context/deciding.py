"""Which words make a detector flag a sentence: the fewest whose absence lets it pass.

Sentences with words left out are still close to language, while a few words alone are not, and a detector's
score of those says little. So the alpha-context is asked of a language model, and this of the detector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.context.alpha import Word, words_of
from core.context.smallest import smallest

if TYPE_CHECKING:
    from core.context.detector import Detector

MOST_SUBSETS = 400


@dataclass(frozen=True)
class Deciding:
    """The words in the order of the sentence, and the scores with and without them.

    No fewer than `at_least` words will do. Without words: nothing was flagged, or the sentence before alone
    is enough.
    """

    words: tuple[Word, ...]
    score: float
    without: float
    at_least: int
    tried: int

    @property
    def exact(self) -> bool:
        """Whether there is no smaller set."""
        return len(self.words) == self.at_least


def deciding_words(detector: "Detector", sentence: str, before: str = "") -> Deciding:
    """The fewest words of a flagged sentence without which it would not be flagged."""
    words = words_of(sentence)
    scores: dict[tuple[int, ...], float] = {}

    def above(subsets: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        """By how much the sentence without these words still reaches the threshold, 0 where it does not."""
        left = [
            " ".join(word.text for i, word in enumerate(words) if i not in set(subset)) for subset in subsets
        ]
        found = detector.score(left, [before] * len(left))
        scores.update(zip(subsets, map(float, found), strict=True))
        return np.where(found >= detector.threshold, found - detector.threshold + 1e-9, 0.0)

    whole = float(detector.score([sentence], [before])[0])
    found = smallest(len(words), above, 0.0, most=MOST_SUBSETS)
    if whole < detector.threshold or found.whole > 0.0:  # even an empty sentence is flagged
        return Deciding((), whole, whole, 0, found.tried)
    return Deciding(
        tuple(words[i] for i in found.subset), whole, scores[found.subset], found.at_least, found.tried
    )
