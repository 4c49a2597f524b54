"""Drawing from exactly the law that was accounted: integers, and the operating system's randomness.

The integer law. n_x = floor(P_x 2^103), but at least 1 where P_x > 0, and the token x comes with chance
n_x / N, N = sum n_x. Scaling a float by a power of two is exact, so if P_x >= 1e-18 for every token that
can come, then n_x / (P_x 2^103) lies in [1 - 1e-13, 1] and n_x / N within a factor exp(+-1e-13) of
P_x / sum P. The floor on P is public: tokens whose public probability is below `PUBLIC_FLOOR` are dropped
for all models (they weigh less than 1e-10 together), and a mixture keeps at least 1 - w_max of the public
pmf, w_max at most `LARGEST_WEIGHT`.

The slack. Let eta bound |log| of the ratio of sampled to exact mass, token by token, in both worlds:
1e-13 from the integers, and less than 2e-13 from float64 (a mixture of k <= 1,024 nonnegative terms has
a relative error below (k + 8) 2^-53, pmfs sum to one within 1e-13 after normalising). Then
sum P^a Q^(1-a) moves by at most a factor exp((2a - 1) eta), so D_a by (2a - 1)/(a - 1) eta: below 1e-11 for
a >= 1.05. The computed loss itself has an absolute error below 1e-11. `SLACK` covers both many times over.
"""

import secrets
from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError

SLACK = 1e-9
PUBLIC_FLOOR = 1e-16
LARGEST_WEIGHT = 0.99
SMALLEST_ORDER = 1.05

_HIGH_BITS, _LOW_BITS = 60, 43
_BLOCK = 256  # tokens that are added up together before the one that was drawn is looked for
_LARGEST_VOCABULARY = 2**20  # so that the low halves add up within 63 bits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def integer_parts(pmf: Floats) -> tuple[Integers, Integers]:
    """The integers n_x as two halves: n_x = high_x 2^43 + low_x. Zero only where the pmf is zero."""
    if pmf.ndim != 1 or not 0 < pmf.size <= _LARGEST_VOCABULARY:
        raise InputError(f"A pmf over 1 to {_LARGEST_VOCABULARY:,} tokens is needed.")
    least = pmf.min()
    if not (least >= 0.0 and 0.5 < pmf.sum() < 2.0):  # also false for NaN
        raise InputError("The law to draw from is not a probability mass function.")
    scaled = np.asarray(pmf, np.float64) * 2.0**_HIGH_BITS
    whole = np.floor(scaled)
    high = whole.astype(np.int64)
    scaled -= whole
    scaled *= 2.0**_LOW_BITS
    low = scaled.astype(np.int64)
    if least * 2.0**_HIGH_BITS * 2.0**_LOW_BITS < 1.0:
        low[(high == 0) & (low == 0) & (pmf > 0.0)] = 1
    return high, low


def integer_law(pmf: Floats) -> list[int]:
    """The integers n_x whose shares are the sampled law, as Python integers (for tests and audits)."""
    high, low = integer_parts(pmf)
    return [(int(h) << _LOW_BITS) + int(x) for h, x in zip(high, low, strict=True)]


def sample(pmf: Floats) -> int:
    """Draw one token from the integer law of `pmf` with the operating system's randomness.

    There is no seed on purpose; `sample_with` serves evaluations on text that is not private.
    """
    return _find(*integer_parts(pmf), secrets.randbelow)


def sample_with(pmf: Floats, generator: np.random.Generator) -> int:
    """Draw one token with a generator that can be seeded. Never for private text."""

    def below(total: int) -> int:
        wide = int.from_bytes(generator.bytes((total.bit_length() + 71) // 8), "big")
        return wide % total

    return _find(*integer_parts(pmf), below)


def _find(high: Integers, low: Integers, below: Callable[[int], int]) -> int:
    """The token in whose stretch of 0 to N a number drawn below N falls: first its block, then the token."""
    starts = np.arange(0, high.size, _BLOCK)
    blocks = _Sums(np.add.reduceat(high, starts), np.add.reduceat(low, starts))
    drawn = below(blocks(starts.size - 1))
    block = bisect_right(range(starts.size), drawn, key=blocks)
    inside = slice(block * _BLOCK, (block + 1) * _BLOCK)
    tokens = _Sums(high[inside], low[inside])
    rest = drawn - (blocks(block - 1) if block else 0)
    return block * _BLOCK + bisect_right(range(high[inside].size), rest, key=tokens)


class _Sums:
    """The running sums of n_x as Python integers, which have no limit."""

    def __init__(self, high: Integers, low: Integers) -> None:
        self._high, self._low = np.cumsum(high), np.cumsum(low)

    def __call__(self, place: int) -> int:
        return (int(self._high[place]) << _LOW_BITS) + int(self._low[place])
