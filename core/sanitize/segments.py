"""Cutting a long text where a reader would: at a blank line, a line's end, or a space."""

import re
from collections.abc import Iterator, Sequence

_CUTS = ("\n\n", "\n", " ")
_SPACE = re.compile(r"\s")


def segments(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Start and end of consecutive pieces of at most `size` characters that cover the text.

    A cut falls into the second half of a piece, and inside a word only where that half has no space.
    """
    start = 0
    while len(text) - start > size:
        end = last_cut(text, start + size // 2, start + size)
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def last_cut(text: str, low: int, high: int, marks: Sequence[str] = _CUTS) -> int:
    """The best place to cut in (low, high]; `high` itself where there is no white space."""
    for mark in marks:
        at = text.rfind(mark, low, high)
        if at >= 0:
            return at + len(mark)
    found = list(_SPACE.finditer(text, low, high))
    return found[-1].end() if found else high
