"""The truncated exponential mechanism over near neighbours (TEM, Carvalho et al. 2021)."""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.sanitize.mechanism import Mechanism
from core.sanitize.vocabulary import Vocabulary

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BETA = 1e-3  # the chance, at most, that a draw comes from outside the near words
_ROWS = 16  # distinct words whose distances to the vocabulary are held at once
_EXACT = 65_536  # up to this many near words their distances are computed anew in float64


class TruncatedExponential(Mechanism):
    """P[M(w) = y] is proportional to exp(-epsilon/2 min(d(w, y), gamma)).

    This is the paper's law: Gumbel noise of scale 2/epsilon on the scores -d(w, y) of the words within
    gamma and on -gamma + 2 log(n)/epsilon for the n others together, one of which is then drawn
    uniformly. min(d, gamma) changes by at most d(w, w') from w to w', so the weight of y changes by a
    factor of at most exp(epsilon/2 d(w, w')), and so does the sum of weights: exp(epsilon d(w, w')).

    gamma = 2/epsilon log((1 - beta)(|W| - 1)/beta) keeps a draw within gamma with chance 1 - beta. An
    infinite gamma is the exponential mechanism of SanText (Yue et al. 2021) over the whole vocabulary.
    """

    name: ClassVar[str] = "tem"

    def __init__(self, vocabulary: Vocabulary, epsilon: float, gamma: float | None = None) -> None:
        super().__init__(vocabulary, epsilon)
        self.gamma = default_gamma(len(vocabulary), self.epsilon) if gamma is None else gamma
        if not self.gamma > 0:
            raise InputError("The radius of near words must be greater than 0.")

    def perturb(self, indices: Indices, rng: np.random.Generator) -> Indices:
        """One draw for each word; the law of a word is computed once for all its uses in the batch."""
        order = np.argsort(indices, kind="stable")
        distinct, first = np.unique(indices[order], return_index=True)
        uses = np.split(order, first[1:])  # the places of each distinct word
        outputs = np.empty_like(indices)
        for start in range(0, len(distinct), _ROWS):
            rows = distinct[start : start + _ROWS]
            squared = self.vocabulary.search.squared_distances(self.vocabulary.vectors[rows])
            for at, line, places in zip(rows.tolist(), squared, uses[start : start + _ROWS], strict=True):
                near, distances = self._near(at, line)
                outputs[places] = self._draw(near, distances, len(places), rng)
        return outputs

    def law(self, at: int) -> Floats:
        """P[M(w) = y] for the word at that index and every y, in full: for tests and for attackers."""
        squared = self.vocabulary.search.squared_distances(self.vocabulary.vectors[[at]])[0]
        near, distances = self._near(at, squared)
        weights = np.full(len(self.vocabulary), math.exp(-0.5 * self.epsilon * self.gamma))
        weights[near] = np.exp(-0.5 * self.epsilon * distances)
        return weights / weights.sum()

    def _near(self, at: int, squared: NDArray[np.float32]) -> tuple[Indices, Floats]:
        """The words within gamma of a word, in order of index, with their distances."""
        squared[at] = 0.0
        near = np.flatnonzero(squared <= self.gamma**2)
        distances = np.sqrt(squared[near], dtype=np.float64)
        if len(near) <= _EXACT:  # float32 has lost digits of the small differences that matter here
            vectors = self.vocabulary.vectors
            distances = np.linalg.norm(vectors[near].astype(np.float64) - vectors[at], axis=1)
        return near, np.minimum(distances, self.gamma)

    def _draw(self, near: Indices, distances: Floats, count: int, rng: np.random.Generator) -> Indices:
        heaped = np.cumsum(np.exp(-0.5 * self.epsilon * distances))
        others = len(self.vocabulary) - len(near)
        beyond = others * math.exp(-0.5 * self.epsilon * self.gamma) if others else 0.0
        chosen = np.searchsorted(heaped, rng.random(count) * (heaped[-1] + beyond), side="right")
        outside = chosen >= len(near) if others else np.zeros(count, bool)
        outputs = near[np.minimum(chosen, len(near) - 1)]
        if outside.any():
            nth = rng.integers(others, size=int(outside.sum()))
            # the n-th word that is not near: as many near words lie before it as the search finds
            outputs[outside] = nth + np.searchsorted(near - np.arange(len(near)), nth, side="right")
        return outputs


def default_gamma(words: int, epsilon: float, beta: float = BETA) -> float:
    """The radius within which a draw stays with chance 1 - beta."""
    return 2.0 / epsilon * math.log((1.0 - beta) * (words - 1) / beta)
