"""How likely a noise mechanism was to publish a word: the mass of that word's cell, integrated along rays.

A noise mechanism publishes o when phi(w) + z falls into o's Voronoi cell, so P(o | w) is the integral of the
noise density around phi(w) over that cell. In 50 dimensions the usual stand-in, exp(-epsilon |phi(o) -
phi(w)|), is wrong by many orders of magnitude, since the noise travels much further than the words lie apart;
and drawing noise until it falls into a given one of 400,000 cells seldom succeeds.

But a cell is convex and holds its own word, so a ray from phi(o) in direction v is inside up to one point,
t(v), and with F the distribution function of the noise's radius, Gamma(d, 1/epsilon), every direction counts:

    P(o | w) = E_v [ F(t(v)) E_{r ~ Gamma, r < t(v)} exp(-epsilon (|phi(o) + r v - phi(w)| - r)) ]

One set of directions serves all candidates w. For the Mahalanobis noise z = A g the ray runs along A v and
distances are those of A^-1.
"""

import numpy as np
from numpy.typing import NDArray

from core.sanitize.laplace import Laplace, Mahalanobis

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

DIRECTIONS, RADII = 128, 8


class Cell:
    """The cell of one published word, as weighted points inside it."""

    def __init__(
        self, mechanism: Laplace, output: int, rng: np.random.Generator, *, directions: int = DIRECTIONS
    ) -> None:
        from scipy.special import gammainc, gammaincinv

        self._vectors, self._epsilon = mechanism.vocabulary.vectors, mechanism.epsilon
        self._output = output
        self._back = np.linalg.inv(mechanism.root) if isinstance(mechanism, Mahalanobis) else None
        dimension = mechanism.vocabulary.dimension
        unit = rng.standard_normal((directions, dimension))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        ends = mechanism.vocabulary.search.cell_radii(output, mechanism.shape(unit))  # t(v): (A,)
        inside = np.maximum(gammainc(dimension, self._epsilon * ends), np.finfo(float).tiny)
        # Radii at evenly spaced quantiles of what lies inside, each shifted at random: (A, R).
        shares = (np.arange(RADII) + rng.random((directions, RADII))) / RADII
        self._radii = (gammaincinv(dimension, shares * inside[:, None]) / self._epsilon).reshape(-1, 1)
        self._points = self._radii * np.repeat(unit, RADII, axis=0)  # A^-1 (x - phi(o)): (A * R, d)
        self._log_mass = np.repeat(np.log(inside), RADII)[:, None]

    def log_likelihoods(self, candidates: Indices) -> Floats:
        """log P(o | w) for each candidate w, by its index: (n,)."""
        from scipy.special import logsumexp

        apart = self._vectors[candidates].astype(float) - self._vectors[self._output]  # (n, d)
        if self._back is not None:
            apart = apart @ self._back
        distances = np.sqrt(_squares(self._points, apart))  # (A * R, n)
        weights = self._log_mass - self._epsilon * (distances - self._radii)
        return logsumexp(weights, axis=0) - np.log(len(self._points))


def _squares(x: Floats, y: Floats) -> Floats:
    """|x_i - y_j|^2, never below 0: (n, m)."""
    found = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2.0 * x @ y.T
    return np.maximum(found, 0.0)
