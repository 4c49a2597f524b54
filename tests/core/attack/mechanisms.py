"""A sanitiser over a vocabulary of a few words and numbers."""

import numpy as np

from core.sanitize import Mechanism, Vocabulary, make_mechanism
from tests.core.attack.notes import WORDS


def small_mechanism(epsilon: float) -> Mechanism:
    """Euclidean noise on random vectors."""
    vectors = np.random.default_rng(3).normal(size=(len(WORDS) + 100, 6))
    words = [*WORDS, *(f"{number:02d}" for number in range(100))]
    return make_mechanism("euclidean", Vocabulary(words, vectors.astype(np.float32)), epsilon)
