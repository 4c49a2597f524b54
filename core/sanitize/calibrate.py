"""What an epsilon means for a vocabulary: how often a word stays itself, and how many words it may become.

The figures depend on public things alone, so the sample of words and the draws come from a fixed seed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.sanitize.exponential import default_gamma
from core.sanitize.laplace import Laplace
from core.sanitize.mechanism import Mechanism, make_mechanism
from core.sanitize.noise import LARGEST_EPSILON, SMALLEST_EPSILON
from core.sanitize.vocabulary import Vocabulary

Floats = NDArray[np.float64]

_SEED = 2020
_COMMON = 10_000  # vocabularies list their words from the most to the least frequent
_NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class WordCalibration:
    """One word: how often it stayed itself (N_w) and how many words it became (S_w) in the draws."""

    word: str
    stays: float
    distinct: int


@dataclass(frozen=True)
class Calibration:
    """A sample of words at one epsilon: the means of N_w and S_w, and the words one by one.

    `stays_interval` is the 95 % interval of the mean over the words of the vocabulary that the sample
    stands for. `distinct` counts different outputs in `draws` draws, so it is at most `draws`.
    """

    epsilon: float
    mechanism: str
    draws: int
    stays: float
    stays_interval: tuple[float, float]
    distinct: float
    words: tuple[WordCalibration, ...]

    @property
    def deniability(self) -> float:
        """The mean chance that a word that is shown is not the one that was written."""
        return 1.0 - self.stays


def common_words(vocabulary: Vocabulary, count: int) -> list[str]:
    """A fixed sample of the vocabulary's common words of letters."""
    plain = vocabulary.plain_words
    common = plain[plain < _COMMON] if (plain < _COMMON).any() else plain
    chosen = np.random.default_rng(_SEED).permutation(common)[:count]
    return [vocabulary.words[at] for at in np.sort(chosen).tolist()]


def calibrate(
    mechanism: Mechanism,
    *,
    words: Sequence[str] | None = None,
    draws: int = 100,
    rng: np.random.Generator | None = None,
) -> Calibration:
    """N_w and S_w of Feyisetan et al. (2020) by `draws` draws for each word of a sample.

    Without `words` the sample is 50 common words. Words outside the vocabulary cannot be calibrated.
    """
    vocabulary = mechanism.vocabulary
    if draws < 1:
        raise InputError("Calibrating needs at least one draw for each word.")
    at = _indices(vocabulary, words)
    rng = rng or np.random.default_rng(_SEED)
    outputs = mechanism.perturb(np.repeat(at, draws), rng).reshape(len(at), draws)
    stays = (outputs == at[:, None]).mean(axis=1)
    distinct = np.array([len(np.unique(row)) for row in outputs])
    mean, interval = mean_with_interval(stays)
    return Calibration(
        epsilon=mechanism.epsilon,
        mechanism=mechanism.name,
        draws=draws,
        stays=mean,
        stays_interval=interval,
        distinct=float(distinct.mean()),
        words=tuple(
            WordCalibration(vocabulary.words[index], float(chance), int(outcomes))
            for index, chance, outcomes in zip(at.tolist(), stays, distinct, strict=True)
        ),
    )


def mean_with_interval(chances: Floats) -> tuple[float, tuple[float, float]]:
    """The mean of some chances and its normal 95 % interval, within [0, 1]."""
    mean = float(chances.mean())
    if len(chances) < 2:
        return mean, (0.0, 1.0)
    half = _NORMAL_95 * float(chances.std(ddof=1)) / math.sqrt(len(chances))
    return mean, (max(0.0, mean - half), min(1.0, mean + half))


class StayCurve:
    """The chance that a word stays itself, at every epsilon from one pass over the vocabulary.

    Noise of radius G/epsilon along a direction t, with G ~ Gamma(d, 1), leaves the cell of points that
    are nearest to w exactly where G/epsilon exceeds r(t), the distance to the cell's border, because the
    cell is convex. So N_w(epsilon) is the mean over directions of P[G < epsilon r(t)], the incomplete
    gamma function at epsilon r(t). For TEM the chance is 1 / sum_y exp(-epsilon/2 min(d(w, y), gamma)).
    """

    def __init__(
        self,
        noise: str,
        vocabulary: Vocabulary,
        *,
        words: Sequence[str] | None = None,
        directions: int = 32,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.noise, self.vocabulary = noise, vocabulary
        self._at = _indices(vocabulary, words)
        self.words = tuple(vocabulary.words[at] for at in self._at.tolist())
        self._directions = directions
        self._rng = rng or np.random.default_rng(_SEED)
        self._unit = make_mechanism(noise, vocabulary, 1.0)

    @cached_property
    def _radii(self) -> Floats:
        """r(t) for each word and direction: (words, directions)."""
        assert isinstance(self._unit, Laplace)
        return np.array(
            [
                self.vocabulary.search.cell_radii(
                    at, self._unit.shape(_directions(self._directions, self.vocabulary.dimension, self._rng))
                )
                for at in self._at.tolist()
            ]
        )

    @cached_property
    def _distances(self) -> NDArray[np.float32]:
        search, vectors = self.vocabulary.search, self.vocabulary.vectors
        squared = np.array([search.squared_distances(vectors[[at]])[0] for at in self._at.tolist()])
        squared[np.arange(len(self._at)), self._at] = 0.0
        return np.sqrt(squared, out=squared)

    def by_word(self, epsilon: float) -> Floats:
        """N_w at that epsilon for each word of `words`."""
        if isinstance(self._unit, Laplace):
            from scipy.special import gammainc

            return np.asarray(gammainc(self.vocabulary.dimension, epsilon * self._radii)).mean(axis=1)
        gamma = default_gamma(len(self.vocabulary), epsilon)
        weights = np.exp(-0.5 * epsilon * np.minimum(self._distances, gamma))
        return 1.0 / weights.sum(axis=1, dtype=np.float64)

    def stays(self, epsilon: float) -> tuple[float, tuple[float, float]]:
        """The mean of N_w over the words with its 95 % interval."""
        return mean_with_interval(self.by_word(epsilon))

    def epsilon_for(self, deniability: float) -> float:
        """The largest epsilon at which a word becomes another one with chance `deniability`, on average."""
        if not 0.0 < deniability < 1.0:
            raise InputError("Plausible deniability is a chance between 0 and 1, without the ends.")
        low, high = math.log(SMALLEST_EPSILON), math.log(LARGEST_EPSILON)
        if 1.0 - float(self.by_word(math.exp(low)).mean()) < deniability:
            raise InputError(f"No epsilon gives these words a deniability of {deniability:.0%}.")
        for _ in range(40):  # the chance to stay grows with epsilon
            middle = 0.5 * (low + high)
            changes = 1.0 - float(self.by_word(math.exp(middle)).mean())
            low, high = (middle, high) if changes >= deniability else (low, middle)
        return math.exp(low)


def epsilon_for(
    vocabulary: Vocabulary,
    deniability: float,
    *,
    noise: str = "euclidean",
    words: Sequence[str] | None = None,
) -> float:
    """The epsilon at which a word of the sample becomes another one with that chance, on average."""
    return StayCurve(noise, vocabulary, words=words).epsilon_for(deniability)


def _indices(vocabulary: Vocabulary, words: Sequence[str] | None) -> NDArray[np.int64]:
    found = [vocabulary.look_up(word) for word in words or common_words(vocabulary, 50)]
    known = np.array([at for at in found if at is not None], np.int64)
    if not known.size:
        raise InputError("None of these words is in the vocabulary.")
    return known


def _directions(count: int, dimension: int, rng: np.random.Generator) -> Floats:
    normal = rng.standard_normal((count, dimension))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)
