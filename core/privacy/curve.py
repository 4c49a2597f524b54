"""How far mixtures w h_i + (1 - w) h0 stand from the public pmf h0, as functions of the weight.

With r = h_i / h0 - 1 and u = 1 + t r:

    forward(t)  = sum h0 u^alpha - 1        (alpha 2: t^2 sum h0 r^2)
    backward(t) = sum h0 u^(1-alpha) - 1    (alpha 2: t^2 sum h0 r^2 / u)

that is exp((alpha - 1) D_alpha) - 1 for D_alpha(g || h0) and D_alpha(h0 || g), g = h0 + t (h_i - h0).
Both are convex in t and zero at 0.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError
from core.privacy.renyi import Floats, is_pmf
from core.privacy.search import largest_within

if TYPE_CHECKING:
    import torch


class Curves:
    """forward(t) and backward(t) of several parts at once, one row each; no row looks at another.

    At alpha infinity the two are max log u and max -log u, which are the losses themselves. Few passes over
    the vocabulary are what makes a step fast: one product for the ratios h_i / h0, one sum for chi2, and two
    to four passes for every evaluation, by torch, whose threads are at hand after the models. The sums are
    near 1 and exact to about 1e-15; the slack covers that.
    """

    def __init__(self, parts: Floats, public: Floats, alpha: float, *, checked: bool = False) -> None:
        import torch

        if public.ndim != 1 or not (checked or is_pmf(public)):
            raise InputError("The public pmf is not a probability mass function.")
        if parts.ndim != 2 or parts.shape[1:] != public.shape:
            raise InputError("Every part needs a pmf over the public vocabulary.")
        self.alpha = alpha
        self.public = torch.from_numpy(public)
        rows = torch.from_numpy(parts)
        self.ratio = rows * self.public.reciprocal()
        self.u = rows * self.ratio
        self.chi2: Floats = np.maximum(self.u.sum(1).numpy() - 1.0, 0.0)  # keeps a NaN
        self.last: tuple[Floats, Floats] = (self.chi2, self.chi2)
        if math.isinf(alpha):
            self.top, self.bottom = (self.ratio.amax(1) - 1.0).numpy(), (self.ratio.amin(1) - 1.0).numpy()
        elif alpha != 2.0:
            self.v = torch.empty_like(self.u)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have mass only where the public pmf has some, and no NaN."""
        return np.isfinite(self.chi2)

    def both(self, t: Floats) -> tuple[Floats, Floats]:
        """forward(t) and backward(t) of each row at its own t."""
        import torch

        with np.errstate(all="ignore"):
            if math.isinf(self.alpha):
                return np.log1p(t * self.top), -np.log1p(t * self.bottom)
            self._raise(t)
            if self.alpha == 2.0:
                torch.div(self.public, self.u, out=self.u)
                return t * t * self.chi2, _excess(self.u)
            self.u *= self.v
            self.u *= self.public
            torch.div(self.public, self.v, out=self.v)
            return _excess(self.u), _excess(self.v)

    def _raise(self, t: Floats) -> None:
        """u = 1 + t r, and v = u^(alpha-1) but at alpha 2, where that is u."""
        import torch

        steps = torch.from_numpy(t)[:, None]
        torch.mul(self.ratio, steps, out=self.u)
        self.u += 1.0 - steps
        if self.alpha != 2.0:
            raise_to(self.u, self.alpha - 1.0, self.v)

    def largest(self, targets: ArrayLike, cap: float) -> tuple[Floats, Floats]:
        """For each row the largest t <= cap with both sums at most its target, and a bound on them there.

        The search starts where the quadratic part alone meets the target: forward and backward are both
        alpha (alpha - 1)/2 chi2 t^2 for small t. At alpha 2 that is exact for the forward sum. A row that is
        not known gets 0.
        """
        targets = np.broadcast_to(np.asarray(targets, np.float64), self.chi2.shape)
        with np.errstate(all="ignore"):
            if math.isinf(self.alpha):
                up = np.where(self.top > 0.0, np.expm1(targets) / self.top, np.inf)
                down = np.where(self.bottom < 0.0, np.expm1(-targets) / self.bottom, np.inf)
                t = np.where(self.known, np.minimum(cap, np.minimum(up, down)), 0.0)
                return t, np.where(self.known, self._value(t), 0.0)
            curvature = 0.5 * self.alpha * (self.alpha - 1.0) * self.chi2
            starts = np.where(curvature > 0.0, np.sqrt(targets / curvature), cap)
        starts = np.where(self.known, starts, 0.0)
        t, reached = largest_within(self._value, self._slope, targets=targets, starts=starts, cap=cap)
        return np.where(self.known, t, 0.0), np.where(self.known, reached, 0.0)

    def _value(self, t: Floats) -> Floats:
        self.last = self.both(t)
        return np.maximum(*self.last)

    def _slope(self, t: Floats) -> Floats:
        """d log E / d log t of the larger of the two.

        t r = u - 1 turns the derivatives into sums of the same kind: t forward' = alpha (sum h0 u^alpha -
        sum h0 u^(alpha-1)) and t backward' = (alpha - 1) (sum h0 u^-alpha - sum h0 u^(1-alpha)).
        """
        forward, backward = self.last
        rises = forward >= backward
        slopes = np.full_like(forward, 2.0)
        if self.alpha == 2.0 and rises.all():
            return slopes
        self._raise(t)
        if self.alpha != 2.0 and rises.any():
            below = _excess(self.v * self.public)
            slopes = np.where(rises, self.alpha * (forward - below) / forward, slopes)
        if not rises.all():
            self.u *= self.u if self.alpha == 2.0 else self.v
            above = _excess(self.public / self.u)
            slopes = np.where(rises, slopes, (self.alpha - 1.0) * (above - backward) / backward)
        return slopes


def _excess(terms: "torch.Tensor") -> Floats:
    """The sum of each row less 1; NaN comes of infinity over infinity and counts as infinite."""
    over: Floats = terms.sum(1).numpy() - 1.0
    return np.where(np.isnan(over), np.inf, over)


def raise_to(u: "torch.Tensor", power: float, out: "torch.Tensor") -> None:
    """out = u^power; products and a square root where they do, for they are ten times faster."""
    import torch

    doubled = power * 2.0
    if doubled != math.floor(doubled) or power > 64.0:
        torch.pow(u, power, out=out)
        return
    whole = math.floor(power)
    if not whole:
        out.fill_(1.0)
    elif whole == 1:
        out.copy_(u)
    for place, bit in enumerate(f"{whole:b}"[1:]):
        torch.square(out if place else u, out=out)
        if bit == "1":
            out *= u
    if power != whole:
        out *= u.sqrt()
