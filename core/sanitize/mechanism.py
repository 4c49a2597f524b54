"""Mechanisms: what takes the words of a text and gives back words, with a stated guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.sanitize.noise import check_epsilon
from core.sanitize.vocabulary import Vocabulary
from core.sanitize.words import is_number

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Replacement:
    """What became of one word. `kept` means that the mechanism drew the word itself, by chance.

    `distance` is the Euclidean distance between the two words' vectors; a word outside the vocabulary has
    none, and its output is a uniform draw that does not depend on it.
    """

    word: str
    output: str
    kept: bool
    distance: float | None
    out_of_vocabulary: bool


class Mechanism(ABC):
    """Perturbs words one by one and independently; `perturb` is the law, the rest is the same for all."""

    name: ClassVar[str]
    metric: ClassVar[str] = "the Euclidean distance of their vectors"

    def __init__(self, vocabulary: Vocabulary, epsilon: float) -> None:
        self.vocabulary = vocabulary
        self.epsilon = check_epsilon(epsilon)

    @property
    def guarantee(self) -> str:
        """What holds for each perturbed word, in one sentence."""
        return (
            f"For any two words w and w' of the vocabulary and any output, the chances of that output differ "
            f"by a factor of at most exp({self.epsilon:g} d(w, w')), where d is {self.metric}."
        )

    @abstractmethod
    def perturb(self, indices: Indices, rng: np.random.Generator) -> Indices:
        """One independent draw for each word of the vocabulary, by index."""

    def replace(self, words: Sequence[str], rng: np.random.Generator) -> list[Replacement]:
        """One independent draw for each word. A word outside the vocabulary becomes a uniform public draw.

        Numbers are drawn from the vocabulary's numbers, other words from its words of letters.
        """
        found = [self.vocabulary.look_up(word) for word in words]
        known = np.array([at for at in found if at is not None], np.int64)
        outputs = self.perturb(known, rng) if known.size else known
        drawn = zip(outputs.tolist(), self.vocabulary.distances(known, outputs).tolist(), strict=True)
        return [
            self._unknown(word, rng) if at is None else self._known(word, at, *next(drawn))
            for word, at in zip(words, found, strict=True)
        ]

    def _known(self, word: str, at: int, output: int, distance: float) -> Replacement:
        return Replacement(word, self.vocabulary.words[output], at == output, distance, False)

    def _unknown(self, word: str, rng: np.random.Generator) -> Replacement:
        public = self.vocabulary.plain_numbers if is_number(word) else self.vocabulary.plain_words
        output = self.vocabulary.words[int(public[rng.integers(public.size)])]
        return Replacement(word, output, False, None, True)


NOISES = ("euclidean", "mahalanobis", "tem")


def make_mechanism(noise: str, vocabulary: Vocabulary, epsilon: float) -> Mechanism:
    """The mechanism of that name: `euclidean` (the paper's), `mahalanobis` or `tem`."""
    from core.sanitize.exponential import TruncatedExponential
    from core.sanitize.laplace import Laplace, Mahalanobis

    kinds: dict[str, type[Mechanism]] = {
        kind.name: kind for kind in (Laplace, Mahalanobis, TruncatedExponential)
    }
    if noise not in kinds:
        raise InputError(f"There is no noise called {noise[:40]!r}; there are {', '.join(NOISES)}.")
    return kinds[noise](vocabulary, epsilon)
