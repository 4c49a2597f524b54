"""The largest argument at which a convex curve from zero stays within a target, in few evaluations."""

import math
from collections.abc import Callable

CLOSE = 1e-4  # relative excess at which the search ends and convexity does the rest


def largest_within(
    value: Callable[[float], float],
    slope: Callable[[float], float],
    *,
    target: float,
    start: float,
    cap: float,
    close: float = CLOSE,
) -> tuple[float, float]:
    """The largest t in [0, cap] with value(t) <= target, to a relative `close`, and a bound on the value.

    `value` is convex with value(0) = 0; `slope(t)` is d log value / d log t at the last t evaluated.
    Newton in log-log coordinates, where such curves run nearly straight with slopes from 2 to the Renyi
    order; bracketed, so it always ends. Convexity gives value(l t) <= l value(t) for l <= 1, so a t whose
    value is a little too high is brought down by the excess. An infinite or NaN value is too high. What is
    returned was evaluated at or below the target, or brought there in that way.
    """
    low, reached, high = 0.0, 0.0, math.inf
    t = min(start, cap)
    for _ in range(200):
        height = value(t)
        if height <= target:
            low, reached = t, height
            if t >= cap or height >= target * (1.0 - close):
                break
        elif height <= target * (1.0 + close):
            return t * (target / height), target
        else:
            high = min(high, t)
        t = _next(t, height, target, slope)
        if not low < t < high:
            t = 0.5 * (low + high) if math.isfinite(high) else cap
        t = min(t, cap)
        if t <= low:
            break
    return low, reached


def _next(t: float, height: float, target: float, slope: Callable[[float], float]) -> float:
    if not math.isfinite(height):
        return t / 8.0
    if height <= 0.0:
        return 2.0 * t
    steepness = slope(t)
    if not 1.0 <= steepness < 1e6:
        steepness = 2.0
    return t * (target / height) ** (1.0 / steepness)
