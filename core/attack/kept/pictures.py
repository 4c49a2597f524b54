"""Pictures as SVG, by the same charts as everywhere else."""

from dataclasses import replace

from core.attack.kept.runs import BarData, Picture
from core.charts import Axis, Bar, Line, bar_chart, line_chart

_WIDTH = 360  # a phone's: what is drawn wider is shrunk there until its words are too small
_LONG = 20  # characters of a name that fit beside a bar


def draw(picture: Picture) -> str:
    """One SVG, readable by a screen reader and safe for any words in it."""
    if picture.lines:
        low, high = picture.y_limits or (None, None)
        return line_chart(
            [Line(line.name, line.points, line.style, line.band) for line in picture.lines],
            title=picture.title,
            x=Axis(picture.x, log=picture.x_log),
            y=Axis(picture.y, low, high),
            size=(_WIDTH, 280),
        )
    bars = [
        Bar(bar.name, bar.value, bar.low, bar.high, bar.group, written(bar.value, picture.unit))
        for bar in picture.bars
    ]
    said = "; ".join(_said(bar, picture.unit) for bar in picture.bars)
    if any(len(bar.name) > _LONG and not bar.group for bar in bars):
        bars = [replace(bar, name="", group=bar.name) for bar in bars]  # a line for the name
    return bar_chart(
        bars, title=picture.title, unit=picture.unit, limit=picture.limit, width=_WIDTH, description=said
    )


def written(value: float, unit: str) -> str:
    """A value as a bar has it: shares in percent, bits to a tenth, others to a hundredth."""
    if unit.startswith("share"):
        return f"{100.0 * value:.0f} %"
    return f"{value:.1f}" if unit.startswith("bits") else f"{value:.2f}"


def _said(bar: BarData, unit: str) -> str:
    """A bar for who cannot see it, with its interval."""
    name = ", ".join(filter(None, (bar.group, bar.name)))
    interval = (
        ""
        if bar.low is None or bar.high is None
        else f" (interval {written(bar.low, unit)} to {written(bar.high, unit)})"
    )
    return f"{name}: {written(bar.value, unit)}{interval}"
