"""Pictures as SVG, by the same charts as everywhere else."""

from core.attack.runs import Picture
from core.charts import Axis, Bar, Line, bar_chart, line_chart

_WIDTH = 480  # small enough to be read on a phone
_LONG = 24  # characters of a name that fit beside a bar


def draw(picture: Picture) -> str:
    """One SVG, readable by a screen reader and safe for any words in it."""
    if picture.lines:
        low, high = picture.y_limits or (None, None)
        return line_chart(
            [Line(line.name, line.points, line.style, line.band) for line in picture.lines],
            title=picture.title,
            x=Axis(picture.x, log=picture.x_log),
            y=Axis(picture.y, low, high),
            size=(_WIDTH, 300),
        )
    bars = [Bar(bar.name, bar.value, bar.low, bar.high, bar.group) for bar in picture.bars]
    if any(len(bar.name) > _LONG and not bar.group for bar in bars):
        bars = [Bar("", bar.value, bar.low, bar.high, bar.name) for bar in bars]  # a line for the name
    return bar_chart(bars, title=picture.title, unit=picture.unit, limit=picture.limit, width=_WIDTH)
