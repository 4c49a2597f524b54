"""The noise of metric differential privacy: density proportional to exp(-epsilon |z|)."""

import math
import secrets

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError

Floats = NDArray[np.float64]

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-3, 1e3


def fresh_generator() -> np.random.Generator:
    """A generator for private text, seeded with 256 bits of the operating system's randomness.

    It is numpy's PCG64, which is statistical and not cryptographic: the seed cannot be guessed, but it is
    not proved that much output would not betray the stream. What leaves is words, each a coarse function
    of many draws, and no attack from there is known. Pass a seeded generator for experiments only.
    """
    seed = np.random.SeedSequence(secrets.randbits(256), pool_size=8)  # by default it would keep 128 bits
    return np.random.Generator(np.random.PCG64DXSM(seed))


def check_epsilon(epsilon: float) -> float:
    """Epsilon as a float within the range in which the mechanisms mean something."""
    if not (isinstance(epsilon, int | float) and math.isfinite(epsilon)):
        raise InputError("Epsilon must be a number.")
    if epsilon <= 0:
        raise InputError("Epsilon must be greater than 0.")
    if epsilon < SMALLEST_EPSILON:
        raise InputError(f"Epsilon below {SMALLEST_EPSILON:g} leaves nothing of the text; use a larger one.")
    if epsilon > LARGEST_EPSILON:
        raise InputError(f"Epsilon above {LARGEST_EPSILON:g} changes no word; use a smaller one.")
    return float(epsilon)


def draw_noise(count: int, dimension: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """`count` vectors with density proportional to exp(-epsilon |z|), as rows.

    In polar coordinates the density of the radius is r^(d-1) exp(-epsilon r), so the radius is
    Gamma(d, 1/epsilon), and the direction is uniform on the sphere: a normal vector, normed.
    """
    normal = rng.standard_normal((count, dimension))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    radius = rng.gamma(dimension, 1.0 / epsilon, (count, 1))
    return normal * radius
