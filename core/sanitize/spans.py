"""Spans: which characters of a text a policy calls sensitive, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text, with the reason in a word or two.

    A `whole` span is one thing, such as a card number with its spaces: it gets one replacement. In any
    other span each word gets its own.
    """

    start: int
    end: int
    reason: str
    whole: bool = False
