"""Two divergences that SubMix asks for: between the halves of a part, and with and without a part."""

import math
from typing import TYPE_CHECKING

import numpy as np

from core.privacy.curve import raise_to
from core.privacy.renyi import HUGE, Floats, symmetric_renyi
from core.privacy.search import largest_within

if TYPE_CHECKING:
    import torch

_CLOSE = 1e-6  # Equation 2 asks for the largest weight: find it to six digits, from below


def halves_weights(halves: Floats, public: Floats, alpha: float, beta: float) -> Floats:
    """Equation 2 of the paper for each part: the largest l in [0, 1] with D_alpha(a || b) <= beta, where
    a = l first + (1 - l) public and b = l second + (1 - l) public; `halves` is (parts, 2, V).

    (a, b) moves on a straight line from (public, public), and sum a^alpha b^(1-alpha) is jointly convex, so
    the divergence grows with l. At alpha 2 it is log1p(l^2 sum (first - second)^2 / b).
    """
    if math.isinf(alpha):
        return np.array([_halves_weight_at_infinity(a, b, public, beta) for a, b in halves])
    with np.errstate(all="ignore"):
        lines = _Lines(halves, public, alpha)
        target = np.expm1((alpha - 1.0) * beta)
        starts = np.where(lines.curvature > 0.0, np.sqrt(target / lines.curvature), 1.0)
        return largest_within(
            lines.values, lines.slopes, targets=target, starts=starts, cap=1.0, close=_CLOSE
        )[0]


def _halves_weight_at_infinity(first: Floats, second: Floats, public: Floats, beta: float) -> float:
    """a <= e^beta b for every token, that is l (first - e^beta second + room) <= room."""
    room = math.expm1(beta) * public
    need = first - math.exp(beta) * second + room
    tight = need > room
    return float(np.min(room[tight] / need[tight], initial=1.0))


def symmetric_loss(p: Floats, q: Floats, alpha: float) -> float:
    """`symmetric_renyi` for two pmfs without zeros, in few passes; the careful one where that fails."""
    excess = math.nan
    with np.errstate(all="ignore"):
        if alpha == 2.0:
            d = p - q
            d *= d
            excess = float(np.maximum((d / q).sum(), (d / p).sum()))  # keeps a NaN, as max() does not
        elif math.isfinite(alpha):
            power = _power(p / q, alpha - 1.0)
            excess = float(np.maximum((p * power).sum(), (q / power).sum())) - 1.0
    if excess < HUGE:  # false for NaN
        return math.log1p(max(excess, 0.0)) / (alpha - 1.0)
    return float(symmetric_renyi(p, q, alpha))


def _power(ratio: Floats, power: float) -> Floats:
    import torch

    raised = np.empty_like(ratio)
    raise_to(torch.from_numpy(ratio), power, torch.from_numpy(raised))
    return raised


class _Lines:
    """sum a^alpha b^(1-alpha) - 1 along the line of Equation 2, for each part."""

    def __init__(self, halves: Floats, public: Floats, alpha: float) -> None:
        import torch

        self.alpha, self.public = alpha, torch.from_numpy(public)
        first, second = torch.from_numpy(halves).unbind(1)
        self.to_second = second - self.public
        self.gap = first - second
        self.squared = self.gap * self.gap
        self.power = self.squared / self.public
        self.curvature: Floats = 0.5 * alpha * (alpha - 1.0) * self.power.sum(1).numpy()
        self.b = torch.empty_like(self.gap)
        self.a = self.b if alpha == 2.0 else torch.empty_like(self.gap)
        self.height = self.curvature

    def values(self, t: Floats) -> Floats:
        import torch

        steps = torch.from_numpy(t)[:, None]
        torch.mul(self.to_second, steps, out=self.b)
        self.b += self.public
        if self.alpha == 2.0:
            torch.div(self.squared, self.b, out=self.power)
            self.height = t * t * self.power.sum(1).numpy()
        else:
            torch.mul(self.gap, steps, out=self.a)
            self.a += self.b
            raise_to(self.a / self.b, self.alpha - 1.0, self.power)
            self.height = (self.a * self.power).sum(1).numpy() - 1.0
        return self.height

    def slopes(self, t: Floats) -> Floats:
        if self.alpha == 2.0:
            self.power /= self.b
            return 2.0 - t**3 * _dots(self.power, self.to_second) / self.height
        forward = self.alpha * _dots(self.power, self.gap + self.to_second)
        self.power *= self.a
        self.power /= self.b
        backward = (1.0 - self.alpha) * _dots(self.power, self.to_second)
        return t * (forward + backward) / self.height


def _dots(a: "torch.Tensor", b: "torch.Tensor") -> Floats:
    """The inner product of each row; not by BLAS, whose threads stall when the cores are busy."""
    products: Floats = (a * b).sum(1).numpy()
    return products
