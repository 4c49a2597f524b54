"""How far a mixture w h_i + (1 - w) h0 stands from the public pmf h0, as a function of the weight.

With r = h_i / h0 - 1 and u = 1 + t r:

    forward(t)  = sum h0 u^alpha - 1        (alpha 2: t^2 sum h0 r^2)
    backward(t) = sum h0 u^(1-alpha) - 1    (alpha 2: t^2 sum h0 r^2 / u)

that is exp((alpha - 1) D_alpha) - 1 for D_alpha(g || h0) and D_alpha(h0 || g), g = h0 + t (h_i - h0).
Both are convex in t and zero at 0.
"""

import math

import numpy as np

from core.errors import InputError
from core.privacy.renyi import Floats, is_pmf
from core.privacy.search import largest_within


class Curve:
    """forward(t) and backward(t) of one part at a time; the buffers are shared by all parts.

    At alpha infinity the two are max log u and max -log u, which are the losses themselves.
    """

    def __init__(self, public: Floats, alpha: float) -> None:
        if public.ndim != 1 or not is_pmf(public):
            raise InputError("The public pmf is not a probability mass function.")
        self.alpha = alpha
        self.public = public
        with np.errstate(divide="ignore"):
            self.inverse = 1.0 / public
        self.r, self.d, self.dr, self.u, self.v = np.empty((5, public.size))
        self.chi2 = self.r_max = self.r_min = 0.0
        self.last = (0.0, 0.0)

    def load(self, part: Floats) -> bool:
        """Take up a part: r = h_i/h0 - 1, d = h_i - h0. False if it is not a pmf on the public support."""
        if part.shape != self.public.shape:
            raise InputError("Every part needs a pmf over the public vocabulary.")
        with np.errstate(all="ignore"):
            np.multiply(part, self.inverse, out=self.r)
            self.r -= 1.0
            np.multiply(self.r, self.public, out=self.d)
            np.multiply(self.d, self.r, out=self.dr)
            self.chi2 = float(self.dr.sum())
            if math.isinf(self.alpha):
                self.r_max, self.r_min = float(self.r.max()), float(self.r.min())
        return bool(is_pmf(part)) and math.isfinite(self.chi2)

    def both(self, t: float) -> tuple[float, float]:
        """forward(t) and backward(t); leaves u, and u^(alpha-1) in v."""
        alpha, u, v = self.alpha, self.u, self.v
        if math.isinf(alpha):
            return math.log1p(t * self.r_max), -math.log1p(t * self.r_min)
        with np.errstate(all="ignore"):
            np.multiply(self.r, t, out=u)
            u += 1.0
            if alpha == 2.0:
                np.divide(self.dr, u, out=v)
                return t * t * self.chi2, _closed(t * t * float(v.sum()))
            raise_to(u, alpha - 1.0, v)
            np.multiply(u, self.public, out=self.dr)
            forward = dot(self.dr, v)
            np.divide(self.public, v, out=self.dr)
            return _closed(forward - 1.0), _closed(float(self.dr.sum()) - 1.0)

    def largest(self, target: float, cap: float) -> tuple[float, float]:
        """The largest t <= cap with both sums at most `target`, and a bound on the sums there.

        The search starts where the quadratic part alone meets the target: forward and backward are both
        alpha (alpha - 1)/2 chi2 t^2 for small t. At alpha 2 that is exact for the forward sum.
        """
        if math.isinf(self.alpha):
            up = math.expm1(target) / self.r_max if self.r_max > 0.0 else math.inf
            down = math.expm1(-target) / self.r_min if self.r_min < 0.0 else math.inf
            t = min(cap, up, down)
            return t, max(self.both(t))
        curvature = 0.5 * self.alpha * (self.alpha - 1.0) * self.chi2
        start = math.sqrt(target / curvature) if curvature > 0.0 else cap
        return largest_within(self._value, self._slope, target=target, start=start, cap=cap)

    def _value(self, t: float) -> float:
        self.last = self.both(t)
        return max(self.last)

    def _slope(self, t: float) -> float:
        """d log E / d log t of the larger of the two, from u and v of the last evaluation."""
        forward, backward = self.last
        if forward >= backward:
            return 2.0 if self.alpha == 2.0 else t * self.alpha * dot(self.d, self.v) / forward
        with np.errstate(all="ignore"):
            np.divide(self.d, self.u, out=self.dr if self.alpha != 2.0 else self.v)
            if self.alpha == 2.0:
                self.v /= self.u
                return -t * float(self.v.sum()) / backward
            self.dr /= self.v
            return -t * (self.alpha - 1.0) * float(self.dr.sum()) / backward


def dot(a: Floats, b: Floats) -> float:
    """Inner product outside BLAS, whose threads stall for milliseconds when the cores are busy."""
    return float(np.einsum("i,i->", a, b))


def _closed(excess: float) -> float:
    """NaN comes of infinity over infinity: count it as infinite."""
    return math.inf if math.isnan(excess) else excess


def raise_to(u: Floats, power: float, out: Floats) -> None:
    """out = u^power; products and a square root where they do, for they are ten times faster."""
    doubled = power * 2.0
    if doubled != math.floor(doubled) or power > 64.0:
        np.power(u, power, out=out)
        return
    whole = math.floor(power)
    out[...] = u if whole else 1.0
    for bit in f"{whole:b}"[1:]:
        out *= out
        if bit == "1":
            out *= u
    if power != whole:
        out *= np.sqrt(u)
