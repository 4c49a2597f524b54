"""Exact nearest neighbours by Euclidean distance over a whole vocabulary, as blocked matrix products."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.sanitize.threads import pool, single_threaded_blas, thread_count

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Result = TypeVar("Result")

_POINTS, _WORDS = 256, 2048  # a block of scores, 2 MB, stays in the cache between product and maximum


class NearestWords:
    """Finds argmin_u |u - q| for many points q at once.

    |u - q|^2 = |q|^2 - 2 (q.u - |u|^2 / 2), so the nearest word has the highest score q.u - |u|^2 / 2,
    one matrix product of (q, 1) with (u, -|u|^2 / 2). Leaving |q|^2 out also keeps float32 precise where
    the noise is large. Ties, and differences below float32, go to the earlier word: a function of the
    noisy point alone, as the guarantee needs.

    At 50 dimensions one product a block is several times as fast as faiss' flat index (tests/bench).
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        self._scored: Matrix = np.empty((len(vectors), vectors.shape[1] + 1), np.float32)
        self._scored[:, :-1] = vectors
        self._scored[:, -1] = -0.5 * np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)

    @property
    def vectors(self) -> Matrix:
        """The words' vectors as they are held here, (words, dimension)."""
        return self._scored[:, :-1]

    def nearest(self, points: NDArray[np.floating]) -> Indices:
        """The index of the word nearest to each row of `points`."""
        extended = _with_one(points)
        found = self._sharded(lambda low, high: self._highest(extended, low, high))
        highest, best = found[0]
        for score, at in found[1:]:
            better = score > highest
            highest[better], best[better] = score[better], at[better]
        return best

    def ranked(self, point: NDArray[np.floating], n: int) -> tuple[Indices, Floats]:
        """The n words nearest to one point with their distances, nearest first."""
        scores = self._scored @ _with_one(point[None, :])[0]
        top = np.argpartition(-scores, min(n, len(scores)) - 1)[:n]
        distances = np.linalg.norm(self._scored[top, :-1].astype(np.float64) - point, axis=1)
        order = np.argsort(distances, kind="stable")
        return top[order], distances[order]

    def squared_distances(self, points: NDArray[np.floating]) -> Matrix:
        """|u - q|^2 for every point and word, at least 0: (points, words)."""
        extended = _with_one(points)
        norms = np.einsum("ij,ij->i", points, points, dtype=np.float64).astype(np.float32)
        squared = np.empty((len(points), len(self._scored)), np.float32)

        def fill(low: int, high: int) -> None:
            part = squared[:, low:high]
            np.subtract(norms[:, None], 2.0 * (extended @ self._scored[low:high].T), out=part)
            np.maximum(part, 0.0, out=part)

        self._sharded(fill)
        return squared

    def cell_radii(self, at: int, directions: NDArray[np.floating]) -> Floats:
        """How far one can go from a word along each direction t before another word is nearer.

        u is nearer than w at w + r t from r = |u - w|^2 / (2 t.(u - w)) on, where t.(u - w) > 0.
        """
        word, along = self._scored[at, :-1], directions.astype(np.float32)

        def steepest(low: int, high: int) -> Matrix:
            most = np.zeros(len(along), np.float32)
            for start in range(low, high, _WORDS):
                offsets = self._scored[start : min(start + _WORDS, high), :-1] - word
                squares = np.einsum("ij,ij->i", offsets, offsets)
                slopes = along @ offsets.T
                slopes /= np.where(squares > 0.0, squares, 1.0)  # at the word itself both are 0
                np.maximum(most, slopes.max(axis=1), out=most)
            return most

        with np.errstate(divide="ignore"):
            return 0.5 / np.max(self._sharded(steepest), axis=0).astype(np.float64)

    def _highest(self, points: Matrix, low: int, high: int) -> tuple[Matrix, Indices]:
        """The highest score of each point among the words low to high, and where it is."""
        highest = np.full(len(points), -np.inf, np.float32)
        best = np.full(len(points), low, np.int64)
        rows = np.arange(_POINTS)
        for first in range(0, len(points), _POINTS):
            block = points[first : first + _POINTS]
            top, place = highest[first : first + _POINTS], best[first : first + _POINTS]  # views
            for start in range(low, high, _WORDS):
                scores = block @ self._scored[start : min(start + _WORDS, high)].T
                at = scores.argmax(axis=1)
                score = scores[rows[: len(block)], at]
                better = score > top
                top[better], place[better] = score[better], start + at[better]
        return highest, best

    def _sharded(self, work: Callable[[int, int], Result]) -> list[Result]:
        """`work` on ranges of words that cover the vocabulary, one for each thread."""
        shards = min(thread_count(), -(-len(self._scored) // _WORDS))
        borders = np.linspace(0, len(self._scored), shards + 1).astype(int).tolist()
        with single_threaded_blas():
            return list(pool().map(work, borders, borders[1:]))


def _with_one(points: NDArray[np.floating]) -> Matrix:
    extended = np.ones((len(points), points.shape[1] + 1), np.float32)
    extended[:, :-1] = points
    return extended
