"""Line and bar charts as SVG: one file each, no script, readable by a screen reader, light and dark.

Colours are CSS variables with defaults, so that a page may theme a chart and a file on its own still has
colours. Every chart has a title, axis labels with units, and a description in words.
"""

from core.charts.bars import Bar, bar_chart
from core.charts.lines import Line, line_chart
from core.charts.scale import Axis

__all__ = ["Axis", "Bar", "Line", "bar_chart", "line_chart"]
