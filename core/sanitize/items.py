"""Items: what a file is read into on its way to the output, one text after the other."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from core.errors import InputError, StudioError
from core.sanitize.policy import Policy
from core.sanitize.segments import last_cut
from core.sanitize.spans import Span

BLOCK = 128 * 1024  # characters of plain text that are sanitised at once, about
LONGEST_RUN = 16 * 1024 * 1024  # characters without white space that still pass for text
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Item:
    """A text with what stands around it in the file; a plain string beside it is written as it is.

    `encode` puts a text into the file's own form. `placeholder` is written instead of the item when it
    cannot be sanitised: its text must not be passed through, and the row must not be lost.
    """

    text: str
    place: str
    placeholder: Callable[[str], str]
    before: str = ""
    after: str = ""
    encode: Callable[[str], str] = str
    spans: tuple[Span, ...] | None = None
    failure: str = ""


def text_items(stream: TextIO, policy: Policy, source: str) -> Iterator[Item | str]:
    """Plain text in blocks that end at a line or at least a word, and never inside a whole span.

    The policy sees what follows a block too, so that a number that straddles two blocks is recognised.
    """
    held, number, ended, searched = "", 0, False, 0
    while not ended:
        more = stream.read(BLOCK)
        ended, held = not more, held + more
        while held and (ended or len(held) >= 2 * BLOCK):
            end = _cut(held, source, searched)
            if end == 0 and not ended:  # one long run so far: read on
                searched = len(held)
                break
            number += 1
            try:
                spans, failure = policy.spans(held), ""
            except StudioError as error:
                spans, failure = [], str(error)
            end = _before_whole(end or len(held), spans)
            cut = tuple(span for span in spans if span.start < end)
            yield Item(held[:end], f"block {number}", _sentence, spans=cut, failure=failure)
            held, searched = held[end:], 0


def _cut(text: str, source: str, searched: int) -> int:
    """Where a block ends that starts the text; 0 where there is no white space behind its first half.

    The first `searched` characters are known to hold no place for a cut.
    """
    if len(text) < 2 * BLOCK:
        return len(text)
    end = searched or last_cut(text, BLOCK // 2, 2 * BLOCK - BLOCK // 8, ("\n", " "))
    if not searched and text[end - 1].isspace():
        return end
    later = _SPACE.search(text, end)
    if later is None and len(text) > LONGEST_RUN:
        raise InputError(f"{source} has over {LONGEST_RUN:,} characters without a space; it is not text.")
    return later.end() if later else 0


def _before_whole(end: int, spans: list[Span]) -> int:
    """A cut that falls into a whole span goes before it."""
    for span in sorted((span for span in spans if span.whole), key=lambda span: -span.start):
        if 0 < span.start < end < span.end:
            end = span.start
    return end


def _sentence(reason: str) -> str:
    return f"[not sanitised: {reason}]\n"
