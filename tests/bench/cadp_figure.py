"""Figure 1 of the paper from the experiment's rows: perplexity against exposure, and against membership."""

from typing import Any

from core.charts import Axis, Line, line_chart

ORDER = ["no privacy", "flagged left out", "CADP", "S-DPSGD (digits)", "S-DPSGD (patterns)", "DP-SGD"]


def figures(rows: list[dict[str, Any]]) -> dict[str, str]:
    """SVG pictures by name; each mechanism is a line over its noise levels."""
    return {
        "exposure": _figure(rows, "exposure", "Exposure of the canary (10 bits: it is named first)", "bits"),
        "membership": _figure(rows, "membership", "Which secrets were in the training text", "share right"),
    }


def _figure(rows: list[dict[str, Any]], measure: str, title: str, label: str) -> str:
    lines = []
    for name in ORDER:
        points = sorted((row["perplexity"], row[measure]) for row in rows if row["name"] == name)
        if points:
            lines.append(Line(name, points, "dots" if len(points) == 1 else "solid"))
    return line_chart(lines, title=title, x=Axis("perplexity on the test text"), y=Axis(label))
