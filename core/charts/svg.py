"""The pieces of a picture: text, colours, numbers in words, and the sheet around them."""

import math
from html import escape

Point = tuple[float, float]
COLOURS = ("#0f706d", "#b4541a", "#4a5fa5", "#8a3f77", "#5b6b1f", "#647273")
LETTER = 7.2  # pixels, of a wide font: which one draws the words is the reader's
TOP = 34  # where the drawing begins, below the title
INK, SOFT, GRID = "var(--chart-ink, #161d1e)", "var(--chart-soft, #4b5859)", "var(--chart-grid, #dde4e4)"


def text(
    x: float, y: float, words: str, anchor: str, *, soft: bool = False, weight: int = 400, extra: str = ""
) -> str:
    """Words at a place."""
    return (
        f'<text fill="{SOFT if soft else INK}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'font-weight="{weight}" {extra}>{plain(words)}</text>'
    )


def colour(number: int) -> str:
    """The colour of the line or bar of this number; a page may set its own."""
    place = number % len(COLOURS)
    return f"var(--chart-{place + 1}, {COLOURS[place]})"


def number_words(value: float) -> str:
    """Short, with no false precision."""
    if not math.isfinite(value):
        return "infinite" if value > 0 else "none"
    if value and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3g}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


# `gr.HTML` would evaluate braces, and SVG gives entities back as they were.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;", "\\": "&#92;"})


def plain(words: str) -> str:
    """Any text, shown as it is."""
    return escape(words).translate(_TEMPLATE)


def svg(title: str, description: str, width: float, height: float, body: str) -> str:
    """The picture with its name and its description, and a paper of its own for files that stand alone."""
    heading = (
        f'<text x="12" y="18" font-size="14" font-weight="600" fill="{INK}">{plain(title)}</text>'
        if title
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="system-ui, sans-serif" font-size="12">'
        f"<title>{plain(title or description)}</title><desc>{plain(description)}</desc>"
        f'<rect width="100%" height="100%" rx="8" fill="var(--chart-paper, #ffffff)"/>{heading}{body}</svg>'
    )
