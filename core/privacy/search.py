"""The largest argument at which a convex curve from zero stays within its target, in few evaluations."""

import math
from collections.abc import Callable

CLOSE = 1e-4  # relative excess at which the search ends and convexity does the rest
_ROUNDS = 200


def largest_within(
    value: Callable[[float], float], *, target: float, start: float, cap: float, close: float = CLOSE
) -> tuple[float, float]:
    """The largest t in [0, cap] with value(t) <= target, and a bound on the value there.

    The curve is convex with value(0) = 0. Secants in log-log coordinates, where such curves run nearly
    straight with slopes from 2 to the Renyi order; bracketed, so it always ends. Convexity gives
    value(l t) <= l value(t) for l <= 1, so a t whose value is a little too high is brought down by the
    excess. An infinite or NaN value is too high. What is returned was evaluated at or below the target, or
    brought there in that way.
    """
    t, low, reached, high = min(start, cap), 0.0, 0.0, math.inf
    steepness, before = 2.0, (0.0, 0.0)
    for _ in range(_ROUNDS):
        height = value(t)
        if height <= target:
            low, reached = t, height
            if t >= cap or height >= target * (1.0 - close):
                break
        elif height <= target * (1.0 + close):
            return t * (target / height), target
        else:
            high = t
        following = t / 8.0  # where the height is infinite or NaN
        if height <= 0.0:
            following = 2.0 * t
        elif height < math.inf:
            steepness, before = _steepness(before, (t, height), steepness), (t, height)
            following = t * (target / height) ** (1.0 / steepness)
        if not low < following < high:
            following = 0.5 * (low + high) if high < math.inf else cap
        t = min(following, cap)
        if not low < t < high:
            break
    return low, reached


def _steepness(before: tuple[float, float], now: tuple[float, float], otherwise: float) -> float:
    """d log value / d log t between two points, where that is the slope of a convex curve."""
    if min(before) <= 0.0 or before[0] == now[0]:
        return otherwise
    found = math.log(now[1] / before[1]) / math.log(now[0] / before[0])
    return found if 1.0 <= found < 1e6 else otherwise
