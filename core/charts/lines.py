"""Lines over two axes, with bands for intervals and a legend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.charts.scale import Axis, Scale, scale_of
from core.charts.svg import GRID, LETTER, TOP, Point, colour, number_words, svg, text

_LEFT, _RIGHT, _BOTTOM = 58, 24, 46
_LEGEND_ROW = 18


@dataclass(frozen=True)
class Line:
    """A named line. `band` is its interval at each point; a dashed line is a reference, dots are measured."""

    name: str
    points: Sequence[Point]
    style: Literal["solid", "dashed", "dots"] = "solid"
    band: Sequence[Point] = ()


def line_chart(
    lines: Sequence[Line], *, title: str, x: Axis, y: Axis, description: str = "", size: Point = (560, 300)
) -> str:
    """Lines over two axes; a legend when there is more than one line."""
    width, height = size
    xs = [point[0] for line in lines for point in line.points]
    ys = [point[1] for line in lines for point in line.points]
    ys += [edge for line in lines for pair in line.band for edge in pair]
    legend = _legend_rows(lines, width) if len(lines) > 1 else []
    frame = Frame(width, height, TOP + _LEGEND_ROW * len(legend), scale_of(x, xs), scale_of(y, ys))
    body = [frame.grid(x.label, y.label)]
    for number, line in enumerate(lines):
        body.append(_line(line, colour(number), frame))
    body.append(_legend(legend))
    words = description or _in_words(lines, x.label, y.label)
    return svg(title, words, width, height, "".join(body))


@dataclass(frozen=True)
class Frame:
    """The drawing area of a line chart."""

    width: float
    height: float
    top: float
    x_scale: Scale
    y_scale: Scale

    def at(self, point: Point) -> Point:
        """Where a point of the data lies in the picture."""
        across, up = self.x_scale(point[0]), self.y_scale(point[1])
        bottom = self.height - _BOTTOM
        return _LEFT + across * (self.width - _LEFT - _RIGHT), bottom - up * (bottom - self.top)

    def grid(self, x_label: str, y_label: str) -> str:
        """Ticks, grid lines and axis labels."""
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        parts = []
        for tick in self.y_scale.ticks:
            y = self.at((self.x_scale.low, tick))[1]
            parts.append(f'<line stroke="{GRID}" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(text(_LEFT - 8, y + 4, number_words(tick), "end", soft=True))
        for tick in self.x_scale.ticks:
            x = self.at((tick, self.y_scale.low))[0]
            parts.append(f'<line stroke="{GRID}" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
            parts.append(text(x, bottom + 18, number_words(tick), "middle", soft=True))
        middle = (self.top + bottom) / 2
        parts.append(text((_LEFT + right) / 2, self.height - 8, x_label, "middle", soft=True))
        turned = f'transform="rotate(-90 14 {middle:.1f})"'
        parts.append(text(14, middle, y_label, "middle", soft=True, extra=turned))
        return "".join(parts)


def _line(line: Line, stroke: str, frame: Frame) -> str:
    drawn = [point for point in line.points if all(map(math.isfinite, point))]
    places = " ".join(f"{across:.1f},{down:.1f}" for across, down in map(frame.at, drawn))
    parts = []
    if line.band:
        lower = [frame.at((point[0], pair[0])) for point, pair in zip(line.points, line.band, strict=True)]
        upper = [frame.at((point[0], pair[1])) for point, pair in zip(line.points, line.band, strict=True)]
        outline = " ".join(f"{a:.1f},{b:.1f}" for a, b in [*lower, *reversed(upper)])
        parts.append(f'<polygon points="{outline}" fill="{stroke}" opacity=".16"/>')
    if line.style == "dots":
        for across, down in map(frame.at, drawn):
            parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3.5" fill="{stroke}"/>')
    else:
        dash = ' stroke-dasharray="5 4"' if line.style == "dashed" else ""
        parts.append(
            f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-width="2" '
            f'stroke-linejoin="round"{dash}/>'
        )
    return "".join(parts)


def _legend_rows(lines: Sequence[Line], width: float) -> list[list[tuple[int, Line]]]:
    rows: list[list[tuple[int, Line]]] = [[]]
    used = 0.0
    for number, line in enumerate(lines):
        need = 34 + LETTER * len(line.name)
        if rows[-1] and used + need > width - _LEFT - _RIGHT:
            rows.append([])
            used = 0.0
        rows[-1].append((number, line))
        used += need
    return rows


def _legend(rows: list[list[tuple[int, Line]]]) -> str:
    parts = []
    for row, entries in enumerate(rows):
        x, y = float(_LEFT), TOP + _LEGEND_ROW * row - 2
        for number, line in entries:
            parts.append(_sample(line, colour(number), x, y + 4))
            parts.append(text(x + 21, y + 8, line.name, "start"))
            x += 34 + LETTER * len(line.name)
    return "".join(parts)


def _sample(line: Line, stroke: str, x: float, y: float) -> str:
    """A short piece of the line, as it is drawn."""
    if line.style == "dots":
        return f'<circle cx="{x + 8:.1f}" cy="{y}" r="3.5" fill="{stroke}"/>'
    dash = ' stroke-dasharray="5 4"' if line.style == "dashed" else ""
    ends = f'x1="{x:.1f}" x2="{x + 16:.1f}" y1="{y}" y2="{y}"'
    return f'<line {ends} stroke="{stroke}" stroke-width="{2 if dash else 3}"{dash}/>'


def _in_words(lines: Sequence[Line], x: str, y: str) -> str:
    said = [
        f"{line.name}: {y} from {number_words(line.points[0][1])} at {x} {number_words(line.points[0][0])} "
        f"to {number_words(line.points[-1][1])} at {number_words(line.points[-1][0])}"
        for line in lines
        if line.points
    ]
    return "; ".join(said) or "Nothing to show yet."
