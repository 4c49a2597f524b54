"""Two divergences that SubMix asks for: between the halves of a part, and with and without a part."""

import math

import numpy as np

from core.privacy.curve import dot, raised, total
from core.privacy.renyi import HUGE, Floats, symmetric_renyi
from core.privacy.search import largest_within

_CLOSE = 1e-6  # Equation 2 asks for the largest weight: find it to six digits, from below


class HalvesRule:
    """Equation 2 of the paper for one part after the other, beside one public pmf.

    The weight is the largest l in [0, 1] with D_alpha(a || b) <= beta, where a = l first + (1 - l) public and
    b = l second + (1 - l) public. (a, b) moves on a straight line from (public, public), and
    sum a^alpha b^(1-alpha) is jointly convex, so the divergence grows with l. At alpha 2 it is
    log1p(l^2 sum (first - second)^2 / b).
    """

    def __init__(self, public: Floats, alpha: float, beta: float) -> None:
        self.alpha, self.beta, self.public = alpha, beta, public
        self._to_second, self._gap, self._b, self._power = (np.empty_like(public) for _ in range(4))
        if alpha != 2.0:
            self._a, self._ratio = np.empty_like(public), np.empty_like(public)

    def weigh(self, first: Floats, second: Floats) -> float:
        """The weight of the part with these halves."""
        with np.errstate(all="ignore"):
            if math.isinf(self.alpha):
                return self._at_infinity(first, second)
            np.subtract(second, self.public, out=self._to_second)
            np.subtract(first, second, out=self._gap)
            if self.alpha == 2.0:
                self._gap *= self._gap
                spread = total(np.divide(self._gap, self.public, out=self._power))
            else:
                spread = dot(self._gap, np.divide(self._gap, self.public, out=self._power))
            target = math.expm1(min((self.alpha - 1.0) * self.beta, 700.0))
            curvature = 0.5 * self.alpha * (self.alpha - 1.0) * spread
            start = math.sqrt(target / curvature) if curvature > 0.0 else 1.0
            return largest_within(self._excess, target=target, start=start, cap=1.0, close=_CLOSE)[0]

    def _excess(self, t: float) -> float:
        """sum a^alpha b^(1-alpha) - 1."""
        b = np.multiply(self._to_second, t, out=self._b)
        b += self.public
        if self.alpha == 2.0:
            return t * t * total(np.divide(self._gap, b, out=self._power))
        a = np.multiply(self._gap, t, out=self._a)
        a += b
        power = raised(np.divide(a, b, out=self._ratio), self.alpha - 1.0, self._power)
        return dot(a, power) - 1.0

    def _at_infinity(self, first: Floats, second: Floats) -> float:
        """a <= e^beta b for every token, that is l (first - e^beta second + room) <= room."""
        room = math.expm1(self.beta) * self.public
        need = first - math.exp(self.beta) * second + room
        tight = need > room
        return float(np.min(room[tight] / need[tight], initial=1.0))


class LeaveOneOut:
    """max(D_alpha(P || Q), D_alpha(Q || P)) of one pmf P and several Q: `symmetric_renyi` in few passes.

    For pmfs without zeros; the careful one answers where that fails.
    """

    def __init__(self, p: Floats, alpha: float) -> None:
        self.alpha, self.p = alpha, p
        with np.errstate(all="ignore"):
            self._inverse = 1.0 / p
        self._ratio, self._power = np.empty_like(p), np.empty_like(p)

    def loss(self, q: Floats) -> float:
        """The larger divergence."""
        excess = math.nan
        with np.errstate(all="ignore"):
            if self.alpha == 2.0:
                squared = np.subtract(self.p, q, out=self._power)
                squared *= squared
                there = total(np.divide(squared, q, out=self._ratio))
                excess = _larger(there, dot(squared, self._inverse))
            elif math.isfinite(self.alpha):
                power = raised(np.divide(self.p, q, out=self._ratio), self.alpha - 1.0, self._power)
                there = dot(self.p, power)
                excess = _larger(there, total(np.divide(q, power, out=power))) - 1.0
        if excess < HUGE:  # false for NaN
            return math.log1p(max(excess, 0.0)) / (self.alpha - 1.0)
        return float(symmetric_renyi(self.p, q, self.alpha))


def _larger(one: float, other: float) -> float:
    """The larger of two; NaN if either is, which max() would hide."""
    return math.nan if math.isnan(one + other) else max(one, other)
