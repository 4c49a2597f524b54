"""When things were done: events over time, a line a panel."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.components.fitted import Size, fitted
from core.charts import Axis, Line, line_chart

BINS = 48
_UNITS = (("minutes", 60.0), ("hours", 3600.0), ("days", 86_400.0))


def timeline_svg(counts: Mapping[str, Sequence[int]], since: datetime, until: datetime) -> str:
    """The events of each panel in every one of the bins between two moments; nothing for no events."""
    if not any(map(sum, counts.values())):
        return ""
    seconds = max((until - since).total_seconds(), 1.0)
    unit, size = next((each for each in _UNITS if seconds / each[1] <= 72), _UNITS[-1])
    lines = []
    for panel, own in sorted(counts.items()):
        width = seconds / len(own)
        places = [((at + 0.5) * width - seconds) / size for at in range(len(own))]
        lines.append(Line(panel, list(zip(places, map(float, own), strict=True))))
    most = float(max(4, *(max(own) for own in counts.values())))  # fewer would be counted in halves
    totals = ", ".join(f"{panel}: {sum(own)}" for panel, own in sorted(counts.items()))

    def draw(picture: Size) -> str:
        return line_chart(
            lines,
            title="Events over time",
            x=Axis(f"{unit} from now", -seconds / size, 0.0),
            y=Axis("events", 0.0, most),
            description=f"Events over time. {totals}.",
            size=picture,
        )

    return fitted(draw, (1116, 220), (340, 220))
