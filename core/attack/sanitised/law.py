"""The law of a mechanism as an attacker knows it: log P(o | w) for a published word o and candidates w."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.attack.sanitised.cells import Cell
from core.errors import InputError
from core.sanitize.exponential import TruncatedExponential
from core.sanitize.laplace import Laplace
from core.sanitize.mechanism import Mechanism

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Law(Protocol):
    """Both answers are log P(o | w), up to a constant that all candidates share; the rough one is quick."""

    def rough(self, output: int, candidates: Indices) -> Floats:
        """To pick by, among thousands of candidates: (n,)."""

    def exact(self, output: int, candidates: Indices) -> Floats:
        """To decide by, among the picked: (n,)."""


class NoiseLaw:
    """Noise on the vector: the mass of the published word's cell. Cells are kept for words seen again."""

    def __init__(self, mechanism: Laplace, rng: np.random.Generator) -> None:
        self._mechanism, self._rng = mechanism, rng
        self._cells: dict[int, Cell] = {}

    def exact(self, output: int, candidates: Indices) -> Floats:
        """The mass of the cell."""
        if output not in self._cells:
            self._cells[output] = Cell(self._mechanism, output, self._rng)
        return self._cells[output].log_likelihoods(candidates)

    rough = exact


class ExponentialLaw:
    """The exponential mechanism has its law in a formula; its sum over the vocabulary is the costly part."""

    def __init__(self, mechanism: TruncatedExponential) -> None:
        self._mechanism = mechanism

    def rough(self, output: int, candidates: Indices) -> Floats:
        """Without the sum over the vocabulary, which differs from word to word."""
        vectors, mechanism = self._mechanism.vocabulary.vectors, self._mechanism
        distances = np.linalg.norm(vectors[candidates].astype(float) - vectors[output], axis=1)
        return -0.5 * mechanism.epsilon * np.minimum(distances, mechanism.gamma)

    def exact(self, output: int, candidates: Indices) -> Floats:
        """The formula in full."""
        chances = [self._mechanism.law(int(at))[output] for at in candidates]
        return np.log(np.maximum(chances, np.finfo(float).tiny))


def law_of(mechanism: Mechanism, rng: np.random.Generator) -> Law:
    """What the attacker computes with, for the mechanisms that the studio has."""
    if isinstance(mechanism, Laplace):
        return NoiseLaw(mechanism, rng)
    if isinstance(mechanism, TruncatedExponential):
        return ExponentialLaw(mechanism)
    raise InputError(f"The attacker does not know the law of {mechanism.name!r}; use the nearest words.")
