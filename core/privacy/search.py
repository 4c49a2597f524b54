"""The largest arguments at which convex curves from zero stay within their targets, in few evaluations."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.privacy.renyi import Floats

CLOSE = 1e-4  # relative excess at which the search ends and convexity does the rest
_ROUNDS = 200


def largest_within(
    value: Callable[[Floats], Floats],
    slope: Callable[[Floats], Floats],
    *,
    targets: ArrayLike,
    starts: ArrayLike,
    cap: float,
    close: float = CLOSE,
) -> tuple[Floats, Floats]:
    """For each curve the largest t in [0, cap] with value(t) <= target, and a bound on the value there.

    `value` takes one t for each curve; the curves are convex with value(0) = 0. `slope(t)` is
    d log value / d log t at the t evaluated last. Newton in log-log coordinates, where such curves run nearly
    straight with slopes from 2 to the Renyi order; bracketed, so it always ends. Convexity gives
    value(l t) <= l value(t) for l <= 1, so a t whose value is a little too high is brought down by the
    excess. An infinite or NaN value is too high. What is returned was evaluated at or below the target, or
    brought there in that way.

    No curve looks at another: all are evaluated until the last has ended, at the t where each had ended.
    """
    t = np.minimum(np.asarray(starts, np.float64), cap)
    targets = np.broadcast_to(np.asarray(targets, np.float64), t.shape)
    low, reached, high = np.zeros_like(t), np.zeros_like(t), np.full_like(t, np.inf)
    going = np.ones(t.shape, bool)
    with np.errstate(all="ignore"):
        for _ in range(_ROUNDS):
            height = value(t)
            within = height <= targets
            ended = within & ((t >= cap) | (height >= targets * (1.0 - close)))
            near = ~within & (height <= targets * (1.0 + close))
            better = going & within
            low, reached = np.where(better, t, low), np.where(better, height, reached)
            if near.any():
                near &= going
                low, reached = np.where(near, t * (targets / height), low), np.where(near, targets, reached)
            going &= ~(ended | near)
            if not going.any():
                break
            high = np.where(going & ~within, np.minimum(high, t), high)
            t = np.where(going, np.minimum(_next(t, height, targets, slope(t), low, high, cap), cap), t)
            going &= t > low
    return low, reached


def _next(
    t: Floats, height: Floats, targets: Floats, steepness: Floats, low: Floats, high: Floats, cap: float
) -> Floats:
    steepness = np.where((steepness >= 1.0) & (steepness < 1e6), steepness, 2.0)
    newton = t * (targets / height) ** (1.0 / steepness)
    newton = np.where(height > 0.0, newton, 2.0 * t)
    newton = np.where(np.isfinite(height), newton, t / 8.0)
    inside: NDArray[np.bool_] = (low < newton) & (newton < high)
    return np.where(inside, newton, np.where(np.isfinite(high), 0.5 * (low + high), cap))
