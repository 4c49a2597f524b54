"""Renyi divergence of two probability mass functions, in nats and in float64."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-6
HUGE = 1e100  # sums above this met subnormal masses or overflow: back to the log domain
_SERIES_BELOW = 1e-3  # |alpha (u - 1)| below which f(u) is taken from its series


def check_order(alpha: float) -> float:
    """Return `alpha` as a float, or refuse an order that is not above 1."""
    alpha = float(alpha)
    if not alpha > 1.0:
        raise InputError(f"The Renyi order must be above 1 (it is {alpha:g}); 2 is the usual choice.")
    return alpha


def is_pmf(p: Floats) -> NDArray[np.bool_]:
    """Tell for each row whether it is a pmf: no NaN, nothing negative, sum 1 within 1e-6."""
    with np.errstate(invalid="ignore", over="ignore"):
        good = (np.abs(p.sum(axis=-1) - 1.0) <= SUM_TOLERANCE) & (p.min(axis=-1) >= 0.0)
    return np.asarray(good)


def renyi_divergence(p: ArrayLike, q: ArrayLike, alpha: float) -> Any:
    """D_alpha(p || q) along the last axis, for 1 < alpha <= infinity: a float, or an array for rows.

    For pmfs sum p^alpha q^(1-alpha) = 1 + sum q f(p/q), f(u) = u^alpha - 1 - alpha (u - 1), since the
    linear part sums to zero. The right side has no cancellation when p is near q; at alpha 2 it is
    log1p(sum (p - q)^2 / q). Where it overflows, the sum is taken in the log domain.

    Fails closed: a row that is not a pmf (NaN, negative, not summing to one) and a p with mass where q
    has none both give infinity, a loss that no budget covers. Never below zero.
    """
    alpha = check_order(alpha)
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    if p.ndim == 0 or q.ndim == 0 or p.shape[-1] != q.shape[-1] or p.shape[-1] == 0:
        raise InputError("Two pmfs over the same vocabulary are needed.")
    p, q = np.broadcast_arrays(p, q)
    rows = np.array([_one(a, b, alpha) for a, b in zip(_flat(p), _flat(q), strict=True)])
    return float(rows[0]) if p.ndim == 1 else rows.reshape(p.shape[:-1])


def symmetric_renyi(p: ArrayLike, q: ArrayLike, alpha: float) -> Any:
    """The larger of D_alpha(p || q) and D_alpha(q || p), as in Definition 2.4 of the paper."""
    larger = np.maximum(renyi_divergence(p, q, alpha), renyi_divergence(q, p, alpha))
    return float(larger) if np.ndim(larger) == 0 else np.asarray(larger)


def _flat(p: Floats) -> Floats:
    return p.reshape(-1, p.shape[-1])


def _one(p: Floats, q: Floats, alpha: float) -> float:
    if not (is_pmf(p) and is_pmf(q)):
        return math.inf
    held = q > 0.0
    if not held.all():
        if p[~held].any():
            return math.inf
        p, q = p[held], q[held]
    if math.isinf(alpha):
        some = p > 0.0
        return max(0.0, float(np.max(np.log(p[some]) - np.log(q[some]))))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        excess = _excess(p, q, alpha)
    if excess < HUGE:  # false for NaN
        return max(0.0, math.log1p(max(excess, 0.0)) / (alpha - 1.0))
    some = p > 0.0
    logs = alpha * np.log(p[some]) - (alpha - 1.0) * np.log(q[some])
    top = float(logs.max())
    return max(0.0, (top + math.log(float(np.exp(logs - top).sum()))) / (alpha - 1.0))


def _excess(p: Floats, q: Floats, alpha: float) -> float:
    """Sum of q f(p/q)."""
    if alpha == 2.0:
        return float(np.sum((p - q) ** 2 / q))
    s = (p - q) / q
    u = p / q
    small = np.abs(alpha * s) < _SERIES_BELOW
    f = np.empty_like(s)
    t = s[small]
    a = alpha - 2.0
    series = 1.0 + a / 3.0 * t * (1.0 + (a - 1.0) / 4.0 * t * (1.0 + (a - 2.0) / 5.0 * t))
    f[small] = 0.5 * alpha * (alpha - 1.0) * t * t * series
    f[~small] = u[~small] ** alpha - 1.0 - alpha * s[~small]
    return float(np.sum(q * f))
