"""Axes: their limits, where a value lies between them, and round ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """What an axis shows. Fixed limits keep a live chart from jumping."""

    label: str
    low: float | None = None
    high: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Scale:
    """Where a value lies between 0 and 1, and which ticks to draw."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """The place of a value, clipped just outside the frame."""
        if self.log:
            low, high, value = math.log(self.low), math.log(self.high), math.log(max(value, self.low))
        else:
            low, high = self.low, self.high
        return min(max((value - low) / (high - low), -0.02), 1.02)


def scale_of(axis: Axis, values: Sequence[float]) -> Scale:
    """The axis' own limits where it has them, round ones around the values otherwise."""
    seen = [value for value in values if math.isfinite(value) and (value > 0 or not axis.log)]
    low = axis.low if axis.low is not None else min(seen, default=1.0 if axis.log else 0.0)
    high = axis.high if axis.high is not None else max(seen, default=1.0)
    if not high > low:
        low, high = (low / 2, low * 2) if axis.log else (low - 0.5, low + 0.5)
    if axis.log:
        ticks = _log_ticks(low, high)
        return Scale(low, high, True, ticks)
    step = _step(high - low)
    if axis.low is None:
        low = math.floor(low / step) * step
    if axis.high is None:
        high = math.ceil(high / step) * step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Scale(low, high, False, tuple(number * step for number in range(first, last + 1)))


def _step(span: float) -> float:
    """A round step that gives about five ticks."""
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if high / low > 1e3 else (1, 2, 5)
    return tuple(f * 10.0**p for p in powers for f in factors if low * 0.999 <= f * 10.0**p <= high * 1.001)
