"""Noise on word vectors, then the nearest word: the mechanism of MDP, and its Mahalanobis variant."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.sanitize.mechanism import Mechanism
from core.sanitize.noise import draw_noise
from core.sanitize.vocabulary import Vocabulary

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
_BATCH = 8192  # words whose noisy vectors are held at once


class Laplace(Mechanism):
    """Feyisetan et al. (2020): y = argmin_u |phi(u) - (phi(w) + N)|, N with density ~ exp(-epsilon |z|).

    The density of phi(w) + N at a point x is at most exp(epsilon |phi(w) - phi(w')|) times that of
    phi(w') + N, by the triangle inequality; the nearest word is a function of that point alone.
    """

    name: ClassVar[str] = "euclidean"

    def shape(self, noise: Floats) -> Floats:
        """Noise of a round law, as rows, in this mechanism's shape."""
        return noise

    def noise(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` draws of N, as rows."""
        return self.shape(draw_noise(count, self.vocabulary.dimension, self.epsilon, rng))

    def perturb(self, indices: Indices, rng: np.random.Generator) -> Indices:
        """The word nearest to each noisy vector."""
        outputs = np.empty_like(indices)
        for start in range(0, len(indices), _BATCH):
            batch = indices[start : start + _BATCH]
            noisy = self.vocabulary.vectors[batch] + self.noise(len(batch), rng)
            outputs[start : start + _BATCH] = self.vocabulary.nearest(noisy)
        return outputs


class Mahalanobis(Laplace):
    """Xu et al. (2020): the noise follows the shape of the vocabulary, density ~ exp(-epsilon |z|_RM).

    |z|_RM = sqrt(z' A^-1 z), A = share * Sigma + (1 - share) * I, with Sigma the covariance of the public
    vectors scaled to trace d. Drawn as A^(1/2) N with N as in `Laplace`; the bound holds in |.|_RM.
    """

    name: ClassVar[str] = "mahalanobis"
    metric: ClassVar[str] = "the regularised Mahalanobis distance of their vectors"

    def __init__(self, vocabulary: Vocabulary, epsilon: float, share: float = 0.2) -> None:
        super().__init__(vocabulary, epsilon)
        if not 0.0 <= share <= 1.0:
            raise InputError("The share of the covariance lies between 0 and 1.")
        self.root = covariance_root(vocabulary, share)

    def shape(self, noise: Floats) -> Floats:
        """A^(1/2) N for each row N."""
        return noise @ self.root


def covariance_root(vocabulary: Vocabulary, share: float) -> Floats:
    """The symmetric root of share * Sigma + (1 - share) * I."""
    covariance = vocabulary.covariance * (vocabulary.dimension / np.trace(vocabulary.covariance))
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(share * values.clip(0.0) + (1.0 - share))) @ vectors.T
