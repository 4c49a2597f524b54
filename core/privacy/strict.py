"""The loss of one part under StrictSubMix, from that part and the public pmf alone, and its inverse.

Setting. k parts, each answers g_j = w_j h_j + (1 - w_j) h0 with w_j <= w_max, the token comes from their
mean. Without part i, g_i is h0. The two laws are P = Q + c and Q, with c = w (h_i - h0) / k, and since every
other part keeps (1 - w_max) h0, Q >= q = kappa h0 with kappa = 1/k + (1 - w_max)(k - 1)/k.

Bound. With f(u) = u^alpha - 1 - alpha (u - 1), sum P^alpha Q^(1-alpha) = 1 + sum Q f(1 + c/Q). The map
s -> s f(1 + c/s) does not increase (its derivative is f(1 + u) - u f'(1 + u) <= f(1) = 0 by convexity), so
q in the place of Q is the worst case; the other direction is the same with P >= q + c. Writing
t = w / (k kappa), r = h_i / h0 - 1 and u = 1 + t r, both sums are kappa times

    forward(t)  = sum h0 u^alpha - 1        (alpha 2: t^2 sum h0 r^2)
    backward(t) = sum h0 u^(1-alpha) - 1    (alpha 2: t^2 sum h0 r^2 / u)

and the loss is log(1 + kappa max(forward, backward)) / (alpha - 1). Both are convex in t and zero at 0, so
the loss grows with the weight, and forward(l t) <= l forward(t) for l <= 1: a weight found a little too
high is brought down by the excess and is then surely low enough.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InputError
from core.privacy.curve import Curve
from core.privacy.renyi import Floats, check_order, is_pmf

_AS_IF = 2e-3  # nats: the even pace of epsilon 2 over 1,024 queries, for a part that has nothing left
_GUARD = 1e-12  # keeps rounding in expm1 and log1p below the allowance


class Weighed(NamedTuple):
    """Weights and the losses that they cost at most, one of each for every part."""

    weights: Floats
    losses: Floats


def base_share(k: int, w_max: float) -> float:
    """Kappa: the share of the public pmf that is surely in the answer without part i."""
    if k < 2:
        raise InputError("At least two parts are needed: with one there is nobody to hide among.")
    if not 0.0 < w_max < 1.0:
        raise InputError(f"The largest weight must lie between 0 and 1 (it is {w_max:g}).")
    return 1.0 / k + (1.0 - w_max) * (k - 1) / k


class StrictRule:
    """How much of a part may be read beside one public pmf: from that part and its own allowance alone.

    `checked` says that the caller has made sure of pmfs already. Callers silence numpy's warnings.
    """

    def __init__(self, public: Floats, k: int, w_max: float, alpha: float, *, checked: bool = False) -> None:
        self.alpha, self.w_max, self.kappa = check_order(alpha), w_max, base_share(k, w_max)
        self._scale = k * self.kappa  # w = scale t
        self._cap = w_max / self._scale
        self._checked = checked
        self._curve = Curve(public, self.alpha, checked=checked)

    def weigh(self, part: Floats, allowance: float, mass: float = 1.0) -> tuple[float, float]:
        """The largest weight, at most w_max, whose loss stays within the allowance; and that loss.

        The part's pmf is part / mass. A part that is not a pmf, or has no allowance, gets weight 0 and loss
        0: it answers with the public pmf. It is worked on all the same, as if it had an ordinary allowance,
        so that the time does not tell that it is exhausted.
        """
        self._curve.read(part, mass)
        target = self._to_excess(allowance if allowance > 0.0 else _AS_IF)
        t, reached = self._curve.largest(target, self._cap)
        if not (allowance > 0.0 and (self._checked or is_pmf(part))):
            return 0.0, 0.0
        weight = self.w_max if t >= self._cap else min(t * self._scale, self.w_max)
        return weight, self._to_loss(reached)

    def loss(self, part: Floats, weight: float) -> float:
        """The loss rho of a part at a weight, without slack; infinite for what is not a pmf."""
        if not 0.0 <= weight <= self.w_max:
            raise InputError(f"A weight lies outside 0 to {self.w_max:g}.")
        self._curve.read(part)
        if weight == 0.0:
            return 0.0
        if not (self._curve.known and is_pmf(part)):
            return math.inf
        return self._to_loss(self._curve.larger(weight / self._scale))

    def _to_loss(self, excess: float) -> float:
        excess = max(excess, 0.0)
        return excess if math.isinf(self.alpha) else math.log1p(self.kappa * excess) / (self.alpha - 1.0)

    def _to_excess(self, loss: float) -> float:
        loss *= 1.0 - _GUARD
        if math.isinf(self.alpha):
            return loss
        power = (self.alpha - 1.0) * loss
        return math.expm1(power) / self.kappa if power < 700.0 else math.inf


def strict_loss(
    part: ArrayLike, public: ArrayLike, weight: ArrayLike, k: int, w_max: float, alpha: float
) -> Any:
    """The loss rho of each part at its weight, without slack; `part` is (V,) or (parts, V).

    A part that is not a pmf, or that meets a public pmf with a zero, costs infinity at any weight above 0.
    """
    rows = np.atleast_2d(np.asarray(part, np.float64))
    weights = np.broadcast_to(np.asarray(weight, np.float64), rows.shape[:1])
    rule = StrictRule(np.asarray(public, np.float64), k, w_max, alpha)
    with np.errstate(all="ignore"):
        losses = [rule.loss(row, float(own)) for row, own in zip(rows, weights, strict=True)]
    return losses[0] if np.ndim(part) == 1 else np.array(losses)


def strict_weight(
    parts: ArrayLike, public: ArrayLike, allowance: ArrayLike, k: int, w_max: float, alpha: float
) -> Weighed:
    """What `StrictRule.weigh` gives for each part; `parts` is (V,) or (parts, V)."""
    rows = np.atleast_2d(np.asarray(parts, np.float64))
    allowances = np.broadcast_to(np.asarray(allowance, np.float64), rows.shape[:1])
    rule = StrictRule(np.asarray(public, np.float64), k, w_max, alpha)
    with np.errstate(all="ignore"):
        found = [rule.weigh(row, float(own)) for row, own in zip(rows, allowances, strict=True)]
    return Weighed(*np.array(found).reshape(-1, 2).T)
