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
from core.privacy.curve import Curves
from core.privacy.renyi import Floats, check_order, is_pmf

_AS_IF = 2e-3  # nats: the even pace of epsilon 2 over 1,024 queries, for a part that has nothing left
_GUARD = 1e-12  # keeps rounding in expm1 and log1p below the allowance
_AT_ONCE = 8  # parts that are worked on together: more would leave the processor's caches


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


def strict_loss(
    part: ArrayLike, public: ArrayLike, weight: ArrayLike, k: int, w_max: float, alpha: float
) -> Any:
    """The loss rho of each part at its weight, without slack; `part` is (V,) or (parts, V).

    A part that is not a pmf, or that meets a public pmf with a zero, costs infinity at any weight above 0.
    """
    alpha, kappa = check_order(alpha), base_share(k, w_max)
    rows = np.atleast_2d(np.asarray(part, np.float64))
    weights = np.broadcast_to(np.asarray(weight, np.float64), rows.shape[:1])
    if not ((weights >= 0.0) & (weights <= w_max)).all():
        raise InputError(f"A weight lies outside 0 to {w_max:g}.")
    curves = Curves(rows, np.asarray(public, np.float64), alpha)
    excess = np.where(curves.known & is_pmf(rows), np.maximum(*curves.both(weights / (k * kappa))), np.inf)
    losses = np.where(weights > 0.0, _to_loss(excess, kappa, alpha), 0.0)
    return float(losses[0]) if np.ndim(part) == 1 else losses


def strict_weight(
    parts: ArrayLike,
    public: ArrayLike,
    allowance: ArrayLike,
    k: int,
    w_max: float,
    alpha: float,
    *,
    checked: bool = False,
) -> Weighed:
    """The largest weights, at most w_max, whose losses stay within each part's own allowance.

    Row i of the answer depends on row i, on the public pmf and on allowance i, and on nothing else. A part
    that is not a pmf, or has no allowance, gets weight 0 and loss 0: it answers with the public pmf. It is
    worked on all the same, as if it had an ordinary allowance, so that the time does not tell that it is
    exhausted. `checked` says that the caller has made sure of pmfs already.
    """
    alpha, kappa = check_order(alpha), base_share(k, w_max)
    rows = np.atleast_2d(np.asarray(parts, np.float64))
    allowances = np.broadcast_to(np.asarray(allowance, np.float64), rows.shape[:1])
    h0 = np.asarray(public, np.float64)
    targets = _to_excess(np.where(allowances > 0.0, allowances, _AS_IF), kappa, alpha)
    cap = w_max / (k * kappa)
    t, reached = np.zeros((2, len(rows)))
    for start in range(0, len(rows), _AT_ONCE):
        group = slice(start, start + _AT_ONCE)
        t[group], reached[group] = Curves(rows[group], h0, alpha, checked=checked).largest(
            targets[group], cap
        )
    paid = allowances > 0.0
    if not checked:
        paid &= is_pmf(rows)
    weights = np.where(t >= cap, w_max, np.minimum(t * (k * kappa), w_max))
    return Weighed(np.where(paid, weights, 0.0), np.where(paid, _to_loss(reached, kappa, alpha), 0.0))


def _to_loss(excess: Floats, kappa: float, alpha: float) -> Floats:
    excess = np.maximum(excess, 0.0)
    return excess if math.isinf(alpha) else np.log1p(kappa * excess) / (alpha - 1.0)


def _to_excess(losses: Floats, kappa: float, alpha: float) -> Floats:
    losses = losses * (1.0 - _GUARD)
    if math.isinf(alpha):
        return losses
    with np.errstate(over="ignore"):
        return np.expm1((alpha - 1.0) * losses) / kappa
