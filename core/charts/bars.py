"""Horizontal bars, with intervals and in groups."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.charts.svg import INK, LETTER, TOP, colour, number_words, svg, text


@dataclass(frozen=True)
class Bar:
    """A named bar, with an interval where there is one. Bars of one `group` stand together.

    `label` is the value in words, where a bare number would not do.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""
    label: str = ""

    @property
    def written(self) -> str:
        """The value as it stands beside the bar."""
        return self.label or number_words(self.value)


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    unit: str,
    limit: float | None = None,
    description: str = "",
    width: float = 560,
) -> str:
    """Horizontal bars with their values written beside them; bars of a group share a heading."""
    groups = list(dict.fromkeys(bar.group for bar in bars))
    names = list(dict.fromkeys(bar.name for bar in bars))
    left, row = min(0.45 * width, 16 + LETTER * max((len(bar.name) for bar in bars), default=0)), 24
    top = TOP + 4
    edges = [
        edge for bar in bars for edge in (bar.value, bar.high) if edge is not None and math.isfinite(edge)
    ]
    largest = limit if limit is not None else max([*edges, 0.0]) or 1.0
    span = width - left - 92

    def place(value: float) -> float:
        return left + span * min(max(value, 0.0), largest) / largest

    parts, y = [], float(top)
    for group in groups:
        if group:
            parts.append(text(12, y + 14, group, "start", weight=600))
            y += row
        for bar in (each for each in bars if each.group == group):
            fill, length = colour(names.index(bar.name) if len(groups) > 1 else 0), place(bar.value) - left
            parts.append(text(left - 8, y + 15, bar.name, "end"))
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 4:.1f}" width="{max(length, 1):.1f}" height="14" '
                f'rx="2" fill="{fill}"/>'
            )
            end = place(bar.value)
            if bar.low is not None and bar.high is not None:
                parts.append(_whisker(place(bar.low), place(bar.high), y + 11))
                end = max(end, place(bar.high))
            parts.append(text(end + 8, y + 15, bar.written, "start", soft=True))
            y += row
    parts.append(text(left, y + 16, unit, "start", soft=True))
    words = description or "; ".join(
        f"{', '.join(filter(None, (bar.group, bar.name)))}: {bar.written}" for bar in bars
    )
    return svg(title, words, width, y + 28, "".join(parts))


def _whisker(low: float, high: float, y: float) -> str:
    return (
        f'<path stroke="{INK}" stroke-width="1.5" d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 4}V{y + 4}'
        f'M{high:.1f} {y - 4}V{y + 4}"/>'
    )
