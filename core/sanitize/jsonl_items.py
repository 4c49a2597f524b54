"""One field of a JSON Lines file: every other character of the file stays as it is."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import TextIO

from core.corpus.columns import choose_columns
from core.corpus.limits import bounded_lines, shown
from core.errors import InputError
from core.sanitize.csv_items import LIMITS, SAMPLE_ROWS
from core.sanitize.items import Item

_DECODER = JSONDecoder()
_SPACE = " \t\r\n"


def jsonl_items(stream: TextIO, source: str, field: str | None, notes: list[str]) -> Iterator[Item | str]:
    """An item for the field of each line; lines that are no object, or lack a text there, failed."""
    lines = enumerate(bounded_lines(stream, LIMITS, source), start=1)
    sample = list(islice(lines, SAMPLE_ROWS))
    rows = [parsed for _, line in sample if isinstance(parsed := _parsed(line), dict)]
    if not rows:
        raise InputError(f"{source} has no lines that are JSON objects; write one object on each line.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    chosen = choose_columns(names, rows, user_column=None, text_column=field, file=source).text
    notes.append(f"The field '{shown(chosen)}' was sanitised, the others are as they were.")
    for number, line in chain(sample, lines):
        yield _item(line, number, chosen) if line.strip() else line


def _parsed(line: str) -> object:
    """The value of a line; an exception in its place when there is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return error


def _item(line: str, number: int, field: str) -> Item | str:
    place = f"row {number}"
    ending = line[len(line.rstrip(_SPACE)) :]

    def placeholder(reason: str) -> str:
        return json.dumps({field: None, "not_sanitised": f"{place}: {reason}"}) + ending

    record = _parsed(line)
    if not isinstance(record, dict):
        return Item("", place, placeholder, failure=_fault(record))
    places = _places(line, field)
    if len(places) != 1:
        problem = "it has no field" if not places else "it has more than one field"
        return Item("", place, placeholder, failure=f"{problem} '{shown(field)}'")
    value = record[field]
    if value is None or value == "":
        return line
    if not isinstance(value, str):
        return Item("", place, placeholder, failure=f"its field '{shown(field)}' is not text")
    start, end = places[0]
    ascii_only = line.isascii()
    return Item(
        value,
        place,
        placeholder,
        before=line[:start],
        after=line[end:],
        encode=lambda text: json.dumps(text, ensure_ascii=ascii_only or not _is_unicode(text)),
    )


def _fault(value: object) -> str:
    if isinstance(value, RecursionError):
        return "it is nested too deeply"
    return "it is not JSON" if isinstance(value, ValueError) else "it is not a JSON object"


def _places(line: str, field: str) -> list[tuple[int, int]]:
    """Where the values of a field of the (valid, outermost) object stand in the line."""
    found = []
    at = _skip(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = scanstring(line, at + 1, True)
        at = _skip(line, _skip(line, at) + 1)
        _, end = _DECODER.raw_decode(line, at)
        if name == field:
            found.append((at, end))
        at = _skip(line, end)
        if line[at] == ",":
            at = _skip(line, at + 1)
    return found


def _skip(line: str, at: int) -> int:
    while line[at] in _SPACE:
        at += 1
    return at


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can escape and UTF-8 cannot hold
        return False
    return True
