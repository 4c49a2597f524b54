"""Small vocabularies for tests: enough words for a law to be seen, few enough to count all outcomes."""

import numpy as np

from core.sanitize import Vocabulary

WORDS = [
    "the", "game", "is", "my", "id", "mail", "card", "ann", "bob", "nurse", "tea", "soup", "bread", "milk",
    "rain", "coast", "night", "slept", "well", "wrote", "queen", "king", "café", "naïve", "u.s.", "'s", "n't",
    "well-known", "and/or",
]  # fmt: skip
NUMBERS = [str(number) for number in (*range(40), 145, 365, 1984, 2009, 2010, 2011)]


def small_vocabulary(dimension: int = 8, seed: int = 0) -> Vocabulary:
    """Some words and numbers with random vectors."""
    words = [*WORDS, *NUMBERS]
    vectors = np.random.default_rng(seed).standard_normal((len(words), dimension))
    return Vocabulary(words, vectors.astype(np.float32))


def line_vocabulary() -> Vocabulary:
    """Five words in the plane, four of them in a row: along it the bound of metric privacy is nearly met."""
    vectors = [[0.0, 0.0], [1.0, 0.0], [2.5, 0.0], [4.5, 0.0], [1.0, 1.5]]
    return Vocabulary(["a", "b", "c", "d", "e"], np.array(vectors, np.float32))
