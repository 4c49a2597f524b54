"""A chart at two widths, of which the page shows the one that fits: its letters stay readable on a phone."""

from collections.abc import Callable

Size = tuple[float, float]


def fitted(draw: Callable[[Size], str], wide: Size, narrow: Size) -> str:
    """The chart that `draw` makes at both sizes; assets/studio.css shows one of them."""
    return f'<div class="chart-wide">{draw(wide)}</div><div class="chart-narrow">{draw(narrow)}</div>'
