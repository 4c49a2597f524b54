"""Splitting text into sentences whose character offsets are exact, whatever the script.

The pieces cover the text: only white space lies between them, so no word can be lost at an edge. A sentence
that is too long to read at once is cut into pieces, and each piece is read together with the words before
it (`read_from`), so that a phrase that straddles a cut is whole in one of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# The longest piece in characters, and how many characters before a cut are read again.
PIECE = 100
OVERLAP = 50

# A sentence ends behind its last mark and any closing quotes; CJK marks need no space behind them.
_END = re.compile(r"[.!?…‽؟۔।॥։።]+[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*|\n")  # noqa: RUF001
_ABBREVIATION = re.compile(
    r"mr|mrs|ms|mx|dr|prof|rev|hon|sgt|capt|lt|col|gen|st|mt|no|nr|nos|vs|etc|eg|e\.g|i\.e|ie|cf|al|fig|vol|ch|pp|p|"
    r"eds?|inc|ltd|co|corp|jr|sr|ext|tel|approx|apt|dept|est|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[ap]\.m|"
    r"u\.s|(?-i:[A-HJ-Z])",
    re.IGNORECASE,
)
# A line that is at least this long and whose next one starts in lower case was wrapped, not ended.
_WRAPPED = 50
# Where a long sentence is best cut, from the best place to the worst.
_CUTS = (re.compile(r"[;:]\s"), re.compile(r"[,–—]\s"), re.compile(r"\s"))  # noqa: RUF001


@dataclass(frozen=True)
class Piece:
    """A sentence, or a piece of a long one: text[start:end], read from text[read_from:end]."""

    start: int
    end: int
    read_from: int


def readable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer takes; each becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def split(text: str) -> tuple[Piece, ...]:
    """The sentences of a text in order, without the white space around them."""
    return tuple(piece for start, end in _sentences(text) for piece in _pieces(text, start, end))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if _goes_on(text, match):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence goes on behind this mark: a wrapped line, or the point of an abbreviation."""
    if match.group() == "\n":
        line = match.start() - text.rfind("\n", max(0, match.start() - _WRAPPED), match.start()) - 1
        following = text[match.end() : match.end() + 40].lstrip(" \t\r")
        return line >= _WRAPPED and following[:1].islower()
    if match.group() != ".":
        return False
    word = text[max(0, match.start() - 12) : match.start()].split()[-1:]
    bare = word[0].lstrip("([\"'“‘") if word else ""  # noqa: RUF001
    return _ABBREVIATION.fullmatch(bare) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    sentence = text[start:end]
    inner = sentence.strip()
    if inner:
        start += len(sentence) - len(sentence.lstrip())
        yield start, start + len(inner)


def _pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    first = start
    while end - start > PIECE:
        cut = _cut(text, start)
        yield from (Piece(a, b, _behind(text, first, a)) for a, b in _trimmed(text, start, cut))
        start = cut
    yield from (Piece(a, b, _behind(text, first, a)) for a, b in _trimmed(text, start, end))


def _cut(text: str, start: int) -> int:
    """The last good place to cut in the second half of a piece; the middle of a word if there is none."""
    for pattern in _CUTS:
        places = [match.end() for match in pattern.finditer(text, start + PIECE // 2, start + PIECE)]
        if places:
            return places[-1]
    return start + PIECE


def _behind(text: str, first: int, start: int) -> int:
    """Where to read from so that the last words before `start` are read too."""
    if start == first:
        return start
    earliest = max(first, start - OVERLAP)
    space = re.search(r"\s", text[earliest:start])
    return earliest if earliest == first or space is None else earliest + space.end()
