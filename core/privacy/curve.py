"""How far mixtures w h_i + (1 - w) h0 stand from the public pmf h0, as functions of the weight.

With r = h_i / h0 - 1 and u = 1 + t r:

    forward(t)  = sum h0 u^alpha - 1        (alpha 2: t^2 sum h0 r^2)
    backward(t) = sum h0 u^(1-alpha) - 1    (alpha 2: t^2 sum h0 r^2 / u)

that is exp((alpha - 1) D_alpha) - 1 for D_alpha(g || h0) and D_alpha(h0 || g), g = h0 + t (h_i - h0).
Both are convex in t and zero at 0. At a whole order forward is a polynomial with no term below zero,
sum_j C(alpha, j) (1 - t)^(alpha-j) t^j m_j - 1 with the moments m_j = sum h0 (h_i / h0)^j.
"""

import math

import numpy as np

from core.errors import InputError
from core.privacy.renyi import Floats, is_pmf
from core.privacy.search import largest_within

_LARGEST_WHOLE = 16.0  # ratios are at most 1e16, and the moments stay finite
_STRETCH = 8192
_NEARLY = 1e-6  # how near to its target the polynomial is solved


class Curve:
    """forward(t) and backward(t) of one part at a time; `read` takes the next, and none leaves a trace.

    At alpha infinity the two are max log u and max -log u, which are the losses themselves. Few passes over
    few arrays are what makes a step fast, for after the models nothing is left in the processor's caches:
    two for chi2, five or more for both sums, most often once, and two for each moment where a search needs
    the polynomial. No threads: where the cores are busy, waiting for them takes longer than the work. The
    sums are near 1 and exact to about 1e-14; the slack covers that. Callers silence numpy's warnings: what
    overflows or is no number is told by the results.
    """

    def __init__(self, public: Floats, alpha: float, *, checked: bool = False) -> None:
        if public.ndim != 1 or not (checked or is_pmf(public)):
            raise InputError("The public pmf is not a probability mass function.")
        self.alpha, self.public = alpha, public
        self._whole = int(alpha) if alpha <= _LARGEST_WHOLE and alpha == math.floor(alpha) else 0
        with np.errstate(divide="ignore"):
            self._inverse = 1.0 / public
        self._ratio = np.empty(public.size)
        self._power = self._ratio if alpha == 2.0 else np.empty(public.size)
        self._part, self._mass, self._fresh = public, 1.0, False
        self._moments: list[float] = []
        self.chi2 = self._most = self._least = 0.0

    @property
    def known(self) -> bool:
        """Whether the part has mass only where the public pmf has some, and no NaN."""
        return math.isfinite(self.chi2)

    def read(self, part: Floats, mass: float = 1.0) -> None:
        """Take the next part: h_i = part / mass. The array is looked at until the next one comes."""
        if part.shape != self.public.shape:
            raise InputError("Every part needs a pmf over the public vocabulary.")
        self._part, self._mass, self._fresh = part, mass, False
        ratio = self._ratios()
        above = dot(part, ratio) / mass**2  # sum h_i^2 / h0
        self.chi2 = above - 1.0 if not above < 1.0 else 0.0  # keeps a NaN
        self._moments = [1.0, 1.0, above] if self._whole == 2 else []
        if math.isinf(self.alpha):
            self._most, self._least = float(ratio.max()) / mass, float(ratio.min()) / mass

    def _expand(self) -> None:
        """Find the polynomial: one product and one sum for each order above 2."""
        ratio, power = self._ratios(), self._ratio
        self._moments = [1.0, 1.0, self.chi2 + 1.0]
        for j in range(3, self._whole + 1):
            power = np.multiply(power, ratio, out=self._power)
            self._moments.append(dot(self._part, power) / self._mass**j)

    def _ratios(self) -> Floats:
        """mass h_i / h0; whoever changes the array says so by `_fresh`."""
        if not self._fresh:
            np.multiply(self._part, self._inverse, out=self._ratio)
        self._fresh = True
        return self._ratio

    def both(self, t: float) -> tuple[float, float]:
        """forward(t) and backward(t) of the part that was read last."""
        if math.isinf(self.alpha):
            return _log(t, self._most), -_log(t, self._least)
        if t == 0.0:
            return 0.0, 0.0
        u, self._fresh = self._ratios(), False
        u *= t / self._mass
        u += 1.0 - t
        power = raised(u, self.alpha - 1.0, self._power)
        if self._moments:
            forward = self._polynomial(t)
        else:
            u *= power
            forward = _excess(dot(self.public, u))
        return forward, _excess(total(np.divide(self.public, power, out=power)))

    def _polynomial(self, t: float) -> float:
        """forward(t), once its moments are known."""
        if self._whole == 2:
            return t * t * self.chi2
        terms = (
            math.comb(self._whole, j) * (1.0 - t) ** (self._whole - j) * t**j * moment
            for j, moment in enumerate(self._moments)
        )
        return math.fsum(terms) - 1.0

    def larger(self, t: float) -> float:
        """The larger of both; what is not a number counts as infinite."""
        forward, backward = self.both(t)
        return math.inf if math.isnan(forward + backward) else max(forward, backward)

    def largest(self, target: float, cap: float) -> tuple[float, float]:
        """The largest t <= cap with both sums at most the target, and a bound on them there.

        The search starts where the polynomial meets the target, or else where the quadratic part does:
        forward and backward are both alpha (alpha - 1)/2 chi2 t^2 for small t. A part that is not known
        gets 0.
        """
        if not self.known:
            return 0.0, 0.0
        if math.isinf(self.alpha):
            above, below = self._most - 1.0, self._least - 1.0
            up = math.expm1(min(target, 700.0)) / above if above > 0.0 else cap
            down = math.expm1(-target) / below if below < 0.0 else cap
            start = min(up, down)
        else:
            curvature = 0.5 * self.alpha * (self.alpha - 1.0) * self.chi2
            start = math.sqrt(target / curvature) if curvature > 0.0 else cap
        if self._whole and start < cap:
            if not self._moments:
                self._expand()
            start, _ = largest_within(self._polynomial, target=target, start=start, cap=cap, close=_NEARLY)
        return largest_within(self.larger, target=target, start=start, cap=cap)


def raised(u: Floats, power: float, out: Floats) -> Floats:
    """u^power; products and a square root where they do, for they are several times faster.

    `out` may be u itself where the power is 1.
    """
    whole, doubled = math.floor(power), power * 2.0
    if doubled != math.floor(doubled) or power > 64.0:
        return np.power(u, power, out=out)
    if not whole:
        return np.sqrt(u, out=out)
    source = u
    for bit in f"{whole:b}"[1:]:
        source = np.multiply(source, source, out=out)
        if bit == "1":
            out *= u
    if source is not out:
        np.copyto(out, source)
    if power != whole:
        out *= np.sqrt(u)
    return out


def dot(a: Floats, b: Floats) -> float:
    """The inner product, by BLAS in stretches so short that it wakes no threads for them."""
    whole = a.size // _STRETCH * _STRETCH
    stretches = np.vecdot(a[:whole].reshape(-1, _STRETCH), b[:whole].reshape(-1, _STRETCH))
    return float(stretches.sum()) + float(np.vecdot(a[whole:], b[whole:]))


def total(a: Floats) -> float:
    """The sum, faster than pairwise."""
    return float(np.einsum("i->", a))


def _excess(whole: float) -> float:
    """The sum less 1; NaN comes of infinity over infinity and counts as infinite."""
    return math.inf if math.isnan(whole) else whole - 1.0


def _log(t: float, ratio: float) -> float:
    """log(1 + t (ratio - 1))."""
    change = t * (ratio - 1.0)
    return math.log1p(change) if change > -1.0 else -math.inf
