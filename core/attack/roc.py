"""How well a score tells members from non-members: ROC, area, and true positives at few false ones.

A higher score says "member". Intervals are those that were seen to cover: percentiles of a bootstrap are too
narrow for an area near 1 (down to 29 % coverage at 20 texts a side, by simulation) and for true positives at
a low false-positive rate (17 to 75 %), so other limits stand there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.attack.intervals import CONFIDENCE, RESAMPLES, Floats, Interval, lower_limit, upper_limit
from core.errors import InputError

RATES = (0.01, 0.001)
_EDGE = 0.25  # nearer to 0 or 1 than this, the bootstrap of an area is not trusted
_POINTS_KEPT = 200


@dataclass(frozen=True)
class TruePositives:
    """The share of members found while at most `rate` of the non-members are taken for members."""

    rate: float
    found: Interval
    measurable: bool  # whether there are enough non-members to tell this rate from zero


@dataclass(frozen=True)
class Roc:
    """The curve as (false-positive rate, true-positive rate), its area, and its low end."""

    points: tuple[tuple[float, float], ...]
    area: Interval
    at: tuple[TruePositives, ...]
    members: int
    others: int


def roc(
    members: ArrayLike,
    others: ArrayLike,
    rng: np.random.Generator,
    *,
    rates: Sequence[float] = RATES,
) -> Roc:
    """The ROC of scores of members against those of non-members."""
    inside, outside = np.asarray(members, np.float64), np.asarray(others, np.float64)
    if min(inside.size, outside.size) < 2 or not np.isfinite(np.concatenate([inside, outside])).all():
        raise InputError("Two finite scores on each side are the least that can be compared.")
    return Roc(
        points=_curve(inside, outside),
        area=area_interval(inside, outside, rng),
        at=tuple(true_positives(inside, outside, rate) for rate in rates),
        members=inside.size,
        others=outside.size,
    )


def area(members: Floats, others: Floats) -> float:
    """P(score of a member > score of another) + half of P(equal)."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, "left") + np.searchsorted(ordered, members, "right")
    return float(below.mean() / (2.0 * others.size))


def area_interval(members: Floats, others: Floats, rng: np.random.Generator) -> Interval:
    """By bootstrap; near 0 and 1 by the binomial law of as many trials as the smaller side has texts.

    The variance of the area A is at most A (1 - A) / min(members, others), so the latter is conservative.
    """
    value, error = area(members, others), 0.5 * (1.0 - CONFIDENCE)
    if min(value, 1.0 - value) >= _EDGE:
        return Interval(value, *np.quantile(_resampled(members, others, rng), [error, 1.0 - error]).tolist())
    from scipy.stats import beta

    trials = min(members.size, others.size)
    hits = value * trials
    low = float(beta.ppf(error, hits, trials - hits + 1.0)) if hits > 0.0 else 0.0
    high = float(beta.ppf(1.0 - error, hits + 1.0, trials - hits)) if hits < trials else 1.0
    return Interval(value, low, high)


def _resampled(members: Floats, others: Floats, rng: np.random.Generator) -> Floats:
    """The areas of resamples of both sides: every pair counts as often as its two texts were drawn."""
    pairs = np.greater.outer(members, others) + 0.5 * np.equal.outer(members, others)
    drawn = [
        rng.multinomial(side.size, np.full(side.size, 1.0 / side.size), RESAMPLES)
        for side in (members, others)
    ]
    found: Floats = ((drawn[0] @ pairs) * drawn[1]).sum(axis=1) / pairs.size
    return found


def true_positives(members: Floats, others: Floats, rate: float) -> TruePositives:
    """The true-positive rate where the false-positive rate is `rate`, with an interval that always covers.

    The number of non-members above the true threshold is binomial, so order statistics of the non-members
    hold that threshold between them; Clopper-Pearson on the members above each gives the limits. The error
    is shared by the four of them. With too few non-members the lower limit is 0, and is meant.
    """
    from scipy.stats import binom

    ordered = np.sort(others)[::-1]
    allowed = int(rate * others.size + 1e-9)
    value = float((members > ordered[allowed]).mean()) if allowed < others.size else 1.0
    error = 0.25 * (1.0 - CONFIDENCE)
    fewest = int(binom.ppf(error, others.size, rate))  # P(count < fewest) is at most the error
    most = int(binom.isf(error, others.size, rate))
    above = int((members > ordered[fewest - 1]).sum()) if fewest > 0 else 0
    below = int((members >= ordered[most]).sum()) if most < others.size else members.size
    low, high = lower_limit(above, members.size, error), upper_limit(below, members.size, error)
    return TruePositives(rate, Interval(value, min(low, value), max(high, value)), fewest > 0)


def _curve(members: Floats, others: Floats) -> tuple[tuple[float, float], ...]:
    """Every threshold from above to below; thinned evenly where there are many."""
    thresholds = np.unique(np.concatenate([members, others]))[::-1]
    inside, outside = np.sort(members), np.sort(others)
    true = 1.0 - np.searchsorted(inside, thresholds, "left") / members.size
    false = 1.0 - np.searchsorted(outside, thresholds, "left") / others.size
    points = [(0.0, 0.0), *zip(false.tolist(), true.tolist(), strict=True)]
    if len(points) > _POINTS_KEPT:
        kept = np.unique(np.linspace(0, len(points) - 1, _POINTS_KEPT).round().astype(int))
        points = [points[place] for place in kept]
    return tuple(points)
