"""Where private training draws its noise and its batches: the operating system, or a seed for experiments.

Opacus' secure mode needs a package (torchcsprng) that current torch cannot load, and torch's generator on a
processor takes 32 bits of its seed, few enough to try them all. So the noise here is made of the operating
system's random bytes themselves: 53 of every 64 bits are a uniform number u, and the inverse of the normal
distribution function makes it a normal one, sqrt(2) erfinv(2 u - 1). What this does not cover: a computer's
numbers are rounded, and attacks on the rounding of noise (Mironov 2012) are not ruled out by the guarantee.
"""

import secrets
from typing import Protocol

import torch

from core.lm.sequences import seed_of

_BITS = 53


class Randomness(Protocol):
    """The two draws of DP-SGD."""

    secure: bool

    def start(self, step: int) -> None:
        """Begin a step: what a seed gives depends on the step's number alone, so that a run can go on."""

    def normal(self, shape: torch.Size) -> torch.Tensor:
        """Independent standard normal numbers, float32."""

    def batch(self, count: int, rate: float) -> torch.Tensor:
        """A Poisson sample: each of `count` sequences with chance `rate`, independently; their numbers."""


class OsRandomness:
    """The operating system's randomness; nobody can repeat it."""

    secure = True

    def start(self, step: int) -> None:
        """Nothing to begin: no draw depends on an earlier one."""

    def normal(self, shape: torch.Size) -> torch.Tensor:
        """Independent standard normal numbers, float32, by inversion in float64."""
        centred = self._uniform(shape.numel()).mul_(2.0).sub_(1.0)
        return centred.erfinv_().mul_(2.0**0.5).float().view(shape)

    def batch(self, count: int, rate: float) -> torch.Tensor:
        """A Poisson sample of 0 ... count - 1."""
        return torch.nonzero(self._uniform(count) < rate)[:, 0]

    def _uniform(self, count: int) -> torch.Tensor:
        """Uniform on the middles of 2^53 equal pieces of (0, 1): never 0, never 1."""
        if not count:
            return torch.zeros(0, dtype=torch.float64)
        words = torch.frombuffer(bytearray(secrets.token_bytes(8 * count)), dtype=torch.int64)
        whole = words.bitwise_and_((1 << _BITS) - 1)
        # The middle of the last piece would round to 1.
        return whole.double().add_(0.5).mul_(2.0**-_BITS).clamp_(max=1.0 - 2.0**-_BITS)


class SeededRandomness:
    """The same draws at every run, for experiments: whoever knows the seed can take the noise off again."""

    secure = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generator = torch.Generator()

    def start(self, step: int) -> None:
        """Seed the generator for this step."""
        self._generator.manual_seed(seed_of(self._seed, "step", step))

    def normal(self, shape: torch.Size) -> torch.Tensor:
        """Independent standard normal numbers, float32."""
        return torch.randn(shape, generator=self._generator)

    def batch(self, count: int, rate: float) -> torch.Tensor:
        """A Poisson sample of 0 ... count - 1."""
        uniform = torch.rand(count, generator=self._generator, dtype=torch.float64)
        return torch.nonzero(uniform < rate)[:, 0]


def randomness(seed: int | None) -> Randomness:
    """The operating system's without a seed."""
    return OsRandomness() if seed is None else SeededRandomness(seed)
