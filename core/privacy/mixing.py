"""Two divergences that SubMix asks for: between the halves of a part, and with and without a part."""

import math

import numpy as np

from core.privacy.curve import dot, raise_to
from core.privacy.renyi import HUGE, Floats, symmetric_renyi
from core.privacy.search import largest_within

_CLOSE = 1e-6  # Equation 2 asks for the largest weight: find it to six digits, from below


def halves_weight(first: Floats, second: Floats, public: Floats, alpha: float, beta: float) -> float:
    """Equation 2 of the paper: the largest l in [0, 1] with D_alpha(a || b) <= beta, where
    a = l first + (1 - l) public and b = l second + (1 - l) public.

    (a, b) moves on a straight line from (public, public), and sum a^alpha b^(1-alpha) is jointly convex, so
    the divergence grows with l. At alpha 2 it is log1p(l^2 sum (first - second)^2 / b).
    """
    if math.isinf(alpha):
        return _halves_weight_at_infinity(first, second, public, beta)
    with np.errstate(all="ignore"):
        line = _Line(first, second, public, alpha)
        target = math.expm1((alpha - 1.0) * beta) if (alpha - 1.0) * beta < 700.0 else math.inf
        start = math.sqrt(target / line.curvature) if line.curvature > 0.0 else 1.0
        return largest_within(line.value, line.slope, target=target, start=start, cap=1.0, close=_CLOSE)[0]


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
            ratio = p / q
            power = np.empty_like(ratio)
            raise_to(ratio, alpha - 1.0, power)
            excess = float(np.maximum(dot(p, power), (q / power).sum())) - 1.0
    if excess < HUGE:  # false for NaN
        return math.log1p(max(excess, 0.0)) / (alpha - 1.0)
    return float(symmetric_renyi(p, q, alpha))


class _Line:
    """sum a^alpha b^(1-alpha) - 1 along the line of Equation 2."""

    def __init__(self, first: Floats, second: Floats, public: Floats, alpha: float) -> None:
        self.alpha, self.public = alpha, public
        self.to_second = second - public
        self.gap = first - second
        self.squared = self.gap * self.gap
        self.curvature = 0.5 * alpha * (alpha - 1.0) * float((self.squared / public).sum())
        self.a, self.b, self.power = np.empty((3, public.size))
        self.height = 0.0

    def value(self, t: float) -> float:
        np.multiply(self.to_second, t, out=self.b)
        self.b += self.public
        if self.alpha == 2.0:
            np.divide(self.squared, self.b, out=self.power)
            self.height = t * t * float(self.power.sum())
        else:
            np.multiply(self.gap, t, out=self.a)
            self.a += self.b
            np.divide(self.a, self.b, out=self.power)
            ratio = self.power.copy()
            raise_to(ratio, self.alpha - 1.0, self.power)
            self.height = dot(self.a, self.power) - 1.0
        return self.height

    def slope(self, t: float) -> float:
        if self.alpha == 2.0:
            self.power /= self.b
            return 2.0 - t**3 * dot(self.power, self.to_second) / self.height
        forward = self.alpha * dot(self.power, (self.gap + self.to_second))
        self.power *= self.a
        self.power /= self.b
        backward = (1.0 - self.alpha) * dot(self.power, self.to_second)
        return t * (forward + backward) / self.height
