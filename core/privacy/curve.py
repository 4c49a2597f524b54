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

    At alpha infinity the two are max log u and max -log u, which are the losses themselves. Few passes over
    the vocabulary are what makes a step fast: one product for the ratio h_i / h0, one sum for chi2, and two
    to four passes for every evaluation. The sums are near 1 and exact to about 1e-15; the slack covers that.
    """

    def __init__(self, public: Floats, alpha: float) -> None:
        if public.ndim != 1 or not is_pmf(public):
            raise InputError("The public pmf is not a probability mass function.")
        self.alpha = alpha
        self.public = public
        with np.errstate(divide="ignore"):
            self.inverse = 1.0 / public
        self.ratio, self.u, self.v, self.w = np.empty((4, public.size))
        self.chi2 = 0.0
        self.last = (0.0, 0.0)

    def load(self, part: Floats, checked: bool = False) -> bool:
        """Take up a part: its ratio to the public pmf and its chi2. False if it is not a pmf there.

        `checked` says that the caller has made sure of a pmf already.
        """
        if part.shape != self.public.shape:
            raise InputError("Every part needs a pmf over the public vocabulary.")
        with np.errstate(all="ignore"):
            np.multiply(part, self.inverse, out=self.ratio)
            np.multiply(part, self.ratio, out=self.w)
            self.chi2 = max(float(self.w.sum()) - 1.0, 0.0)
        return math.isfinite(self.chi2) and (checked or bool(is_pmf(part)))

    def both(self, t: float) -> tuple[float, float]:
        """forward(t) and backward(t); leaves u, and u^(alpha-1) in v."""
        alpha, u, v, w = self.alpha, self.u, self.v, self.w
        if math.isinf(alpha):
            top, bottom = float(self.ratio.max()) - 1.0, float(self.ratio.min()) - 1.0
            return math.log1p(t * top), -math.log1p(t * bottom)
        with np.errstate(all="ignore"):
            np.multiply(self.ratio, t, out=u)
            u += 1.0 - t
            if alpha == 2.0:
                np.divide(self.public, u, out=w)
                return t * t * self.chi2, _closed(float(w.sum()) - 1.0)
            raise_to(u, alpha - 1.0, v)
            np.divide(self.public, v, out=w)
            backward = float(w.sum())
            np.multiply(u, v, out=w)
            return _closed(dot(self.public, w) - 1.0), _closed(backward - 1.0)

    def largest(self, target: float, cap: float) -> tuple[float, float]:
        """The largest t <= cap with both sums at most `target`, and a bound on the sums there.

        The search starts where the quadratic part alone meets the target: forward and backward are both
        alpha (alpha - 1)/2 chi2 t^2 for small t. At alpha 2 that is exact for the forward sum.
        """
        if math.isinf(self.alpha):
            top, bottom = float(self.ratio.max()) - 1.0, float(self.ratio.min()) - 1.0
            up = math.expm1(target) / top if top > 0.0 else math.inf
            down = math.expm1(-target) / bottom if bottom < 0.0 else math.inf
            t = min(cap, up, down)
            return t, max(self.both(t))
        curvature = 0.5 * self.alpha * (self.alpha - 1.0) * self.chi2
        start = math.sqrt(target / curvature) if curvature > 0.0 else cap
        return largest_within(self._value, self._slope, target=target, start=start, cap=cap)

    def _value(self, t: float) -> float:
        self.last = self.both(t)
        return max(self.last)

    def _slope(self, t: float) -> float:
        """d log E / d log t of the larger of the two, from u and v of the last evaluation.

        t r = u - 1 turns the derivatives into sums of the same kind: t forward' = alpha (sum h0 u^alpha -
        sum h0 u^(alpha-1)) and t backward' = (alpha - 1) (sum h0 u^-alpha - sum h0 u^(1-alpha)).
        """
        forward, backward = self.last
        if forward >= backward:
            if self.alpha == 2.0:
                return 2.0
            return self.alpha * (forward + 1.0 - dot(self.public, self.v)) / forward
        with np.errstate(all="ignore"):
            np.divide(self.public, self.u, out=self.w)
            self.w /= self.u if self.alpha == 2.0 else self.v
            return (self.alpha - 1.0) * (float(self.w.sum()) - 1.0 - backward) / backward


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
