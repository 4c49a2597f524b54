"""The alpha-context (Definition 2 of the CADP paper): the words of a context that give a secret away."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.context.likelihood import Likelihood, as_likelihood
from core.context.smallest import Smallest, smallest
from core.errors import InputError

if TYPE_CHECKING:
    from core.context.detector import Detector
    from core.lm.public import PublicModel

_WORD = re.compile(r"\S+")
MOST_WORDS = 120
MOST_SUBSETS = 600


@dataclass(frozen=True)
class Word:
    """A word of the context: text[start:end]."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class AlphaContext:
    """The smallest set of words that keeps the probability within alpha, in the order of the text.

    `full` is the probability after the whole context and `kept` after these words alone. No set of fewer
    than `at_least` words will do; it is `exact` when there are that many. `leaks` is false where even no
    words at all stay within alpha: then the context gives nothing away.
    """

    words: tuple[Word, ...]
    full: float
    kept: float
    alpha: float
    at_least: int
    tried: int

    @property
    def exact(self) -> bool:
        """Whether this is the smallest set; a greedy one is small, and no word of it can be left out."""
        return len(self.words) == self.at_least

    @property
    def leaks(self) -> bool:
        """Whether any words are needed."""
        return bool(self.words)


def alpha_context(
    text: str,
    secret: str,
    alpha: float,
    model: "PublicModel | Likelihood",
    *,
    relative: bool = False,
    most_subsets: int = MOST_SUBSETS,
) -> AlphaContext:
    """The smallest subsequence x' of the words before the secret s with |p(s | x) - p(s | x')| <= alpha.

    `text` is the context alone; where the secret stands in it, the words before its last place are. The
    paper's phi is the identity here. A public model's probability of a true secret is often far below any
    alpha, so that no words are needed: with `relative`, alpha counts in units of p(secret | x).
    """
    if not alpha > 0.0:
        raise InputError("Alpha must be above 0.")
    if not secret.strip():
        raise InputError("The secret is empty.")
    place = text.rfind(secret)
    words = words_of(text if place < 0 else text[:place])
    likelihood = as_likelihood(model)

    def values(subsets: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        contexts = [" ".join(words[i].text for i in subset) for subset in subsets]
        return np.exp(likelihood.log_probabilities(contexts, secret.strip()))

    whole = float(values([tuple(range(len(words)))])[0])
    found = smallest(len(words), values, alpha * whole if relative else alpha, most=most_subsets)
    return _result(words, found, alpha)


def score_context(detector: "Detector", sentence: str, before: str = "", alpha: float = 0.1) -> AlphaContext:
    """The same question asked of the detector: the fewest words of a sentence that keep its score."""
    words = words_of(sentence)

    def values(subsets: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        return detector.score(
            [" ".join(words[i].text for i in subset) for subset in subsets], [before] * len(subsets)
        )

    return _result(words, smallest(len(words), values, alpha, most=MOST_SUBSETS), alpha)


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a context; more than can be searched are refused."""
    words = tuple(Word(match.group(), *match.span()) for match in _WORD.finditer(text))
    if len(words) > MOST_WORDS:
        raise InputError(f"The context has {len(words):,} words; at most {MOST_WORDS} are searched.")
    return words


def _result(words: tuple[Word, ...], found: Smallest, alpha: float) -> AlphaContext:
    kept = tuple(words[i] for i in found.subset)
    return AlphaContext(kept, found.whole, found.value, alpha, found.at_least, found.tried)
