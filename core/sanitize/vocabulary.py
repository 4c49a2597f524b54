"""The public vocabulary: words, their vectors, and the exact search for the word nearest to a point."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.sanitize.search import NearestWords
from core.sanitize.threads import single_threaded_blas
from core.sanitize.vectors import read_vectors
from core.sanitize.words import LONGEST_WORD, normal_form
from core.settings import EMBEDDED, Settings

Matrix = NDArray[np.float32]
Indices = NDArray[np.int64]

_BLOCK = 16_384  # rows taken into float64 at once


class Vocabulary:
    """A public list of words with a vector each. Never built from the text that is sanitised."""

    def __init__(self, words: Sequence[str], vectors: Matrix) -> None:
        if len(words) != len(vectors) or vectors.ndim != 2:
            raise InputError("A vocabulary needs one vector for each word.")
        if len(words) < 2:
            raise InputError("A vocabulary needs at least two words.")
        self.words = words
        self.vectors = vectors
        self.index = {word: at for at, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return self.look_up(word) is not None

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return int(self.vectors.shape[1])

    def look_up(self, word: str) -> int | None:
        """The index of a word as it stands in a text, or None when it lies outside the vocabulary."""
        if len(word) > LONGEST_WORD:
            return None
        at = self.index.get(
            normal_form(word)
        )  # most vocabularies are lower case; one that is not is tried as written
        return self.index.get(word) if at is None else at

    @cached_property
    def search(self) -> NearestWords:
        """The exact search over all words; built at first use."""
        search = NearestWords(self.vectors)
        self.vectors = search.vectors  # the same values: the mapped file need not stay in memory beside them
        return search

    def nearest(self, points: NDArray[np.floating]) -> Indices:
        """The index of the word nearest to each row of `points` by Euclidean distance."""
        return self.search.nearest(points)

    def distance(self, first: int, second: int) -> float:
        """The Euclidean distance of two words by their indices."""
        return float(self.distances(np.array([first]), np.array([second]))[0])

    def distances(self, first: Indices, second: Indices) -> NDArray[np.float64]:
        """The Euclidean distances of pairs of words by their indices."""
        difference = self.vectors[first].astype(np.float64) - self.vectors[second]
        return np.linalg.norm(difference, axis=1)

    def neighbours(self, word: str, n: int = 8) -> list[tuple[str, float]]:
        """The n words nearest to a word with their distances, the word itself left out; none outside."""
        at = self.look_up(word)
        if at is None:
            return []
        found, distances = self.search.ranked(self.vectors[at], min(n + 1, len(self)))
        pairs = zip(found.tolist(), distances.tolist(), strict=True)
        return [(self.words[i], d) for i, d in pairs if i != at][:n]

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """The covariance of the vectors over the vocabulary: (d, d)."""
        mean = self.vectors.mean(axis=0, dtype=np.float64)
        total = np.zeros((self.dimension, self.dimension))
        with single_threaded_blas():
            for start in range(0, len(self), _BLOCK):
                centred = self.vectors[start : start + _BLOCK] - mean
                total += centred.T @ centred
        return total / (len(self) - 1)

    @cached_property
    def plain_words(self) -> Indices:
        """The words of letters only: what a word outside the vocabulary is drawn from."""
        return self._where(str.isalpha)

    @cached_property
    def plain_numbers(self) -> Indices:
        """The words of digits only: what a number outside the vocabulary is drawn from."""
        return self._where(lambda word: word.isascii() and word.isdigit())

    def _where(self, test: Callable[[str], bool]) -> Indices:
        found = np.fromiter((at for at, word in enumerate(self.words) if test(word)), np.int64)
        return found if found.size else np.arange(len(self), dtype=np.int64)


def load_vocabulary(name: str, settings: Settings) -> Vocabulary:
    """The vocabulary of those vectors (see `read_vectors`); the one used last stays in memory."""
    path = Path(name).expanduser()
    changed = path.stat().st_mtime_ns if name != EMBEDDED and path.is_file() else 0
    return _load(name, settings.cache_dir, changed)


@lru_cache(maxsize=2)
def _load(name: str, cache_dir: Path, _changed: int) -> Vocabulary:
    return Vocabulary(*read_vectors(name, Settings(cache_dir=cache_dir)))
