"""Units: the stretches of a text that get one draw each, from the words of the text and a policy's spans."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.sanitize.spans import Span


@dataclass(frozen=True, slots=True)
class Unit:
    """text[start:end], which gets one draw, and why."""

    start: int
    end: int
    reason: str


def find_units(text: str, words: Sequence[tuple[int, int]], spans: Iterable[Span]) -> list[Unit]:
    """One unit for each whole span, widened to full words, and for each other word that a span touches.

    A word that is touched anywhere is sensitive from end to end: no part of it is passed through.
    """
    starts, ends = [word[0] for word in words], [word[1] for word in words]
    wide: list[Unit] = []
    single: dict[int, Unit] = {}
    for span in spans:
        start, end = _visible(text, span)
        if start >= end:
            continue
        first, behind = bisect_right(ends, start), bisect_left(starts, end)
        if not span.whole:
            for at in range(first, behind):
                single[at] = _with_reason(single.get(at), Unit(*words[at], span.reason))
            continue
        if first < behind:
            start, end = min(start, starts[first]), max(end, ends[behind - 1])
        wide.append(Unit(start, end, span.reason))
    merged = _merged(sorted(wide, key=lambda unit: unit.start))
    borders = [unit.start for unit in merged]
    outside = [unit for unit in single.values() if not _inside(unit, merged, borders)]
    return sorted((*merged, *outside), key=lambda unit: unit.start)


def _visible(text: str, span: Span) -> tuple[int, int]:
    """The span cut to the text and without white space at its ends."""
    start, end = max(span.start, 0), min(span.end, len(text))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _merged(units: Sequence[Unit]) -> list[Unit]:
    """Ordered units with overlapping ones made one."""
    merged: list[Unit] = []
    for unit in units:
        if merged and unit.start < merged[-1].end:
            merged[-1] = _with_reason(merged[-1], unit)
        else:
            merged.append(unit)
    return merged


def _inside(unit: Unit, wide: Sequence[Unit], borders: Sequence[int]) -> bool:
    at = bisect_right(borders, unit.start) - 1
    return at >= 0 and unit.start < wide[at].end


def _with_reason(first: Unit | None, second: Unit) -> Unit:
    """Both units as one, with both reasons."""
    if first is None:
        return second
    reasons = dict.fromkeys((*first.reason.split(", "), *second.reason.split(", ")))
    return Unit(min(first.start, second.start), max(first.end, second.end), ", ".join(reasons))
