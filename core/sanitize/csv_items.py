"""One column of a CSV file: every other character of the file stays as it is."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TextIO

from core.corpus.columns import choose_columns
from core.corpus.limits import Limits, bounded_lines, shown
from core.errors import InputError
from core.sanitize.items import Item

SAMPLE_ROWS = 200
LIMITS = Limits(lines=1_000_000_000, document_chars=16 * 1024 * 1024)
_DELIMITERS = ",;\t|"
_LINES_IN_A_RECORD = 10_000
_READ_AGAIN = 4_000_000  # characters in search of closing quotation marks, and as many times the file's own


@dataclass(frozen=True, slots=True)
class Record:
    """A row as it stands in the file, its fields as places in it, and what is wrong with it."""

    number: int
    raw: str
    fields: tuple[tuple[int, int], ...] = ()
    fault: str = ""

    def field(self, at: int) -> str:
        """The raw text of a field, with its quotation marks."""
        start, end = self.fields[at]
        return self.raw[start:end]


def csv_items(stream: TextIO, source: str, column: str | None, notes: list[str]) -> Iterator[Item | str]:
    """An item for the column's field of each row; rows that are no CSV or ragged are items that failed."""
    lines = bounded_lines(stream, LIMITS, source)
    leading = []
    for line in lines:
        leading.append(line)
        if line.strip():
            break
    if not leading or not leading[-1].strip():
        raise InputError(f"{source} has no rows.")
    yield from leading[:-1]
    delimiter = max(_DELIMITERS, key=leading[-1].count)
    records = read_records(chain([leading[-1]], lines), delimiter, source)
    header = next(records)
    if header.fault:
        raise InputError(f"The first row of {source} is not CSV: {header.fault}.")
    names = [unquoted(header.field(at)).strip() for at in range(len(header.fields))]
    sample = list(islice(records, SAMPLE_ROWS))
    at = names.index(_choose(names, sample, column, source, notes))
    yield header.raw
    for record in chain(sample, records):
        yield _item(record, at, len(names), delimiter)


def _choose(names: list[str], sample: list[Record], column: str | None, source: str, notes: list[str]) -> str:
    rows = [
        {name: unquoted(record.field(at)) for at, name in enumerate(names)}
        for record in sample
        if len(record.fields) == len(names)
    ]
    text = choose_columns(names, rows, user_column=None, text_column=column, file=source).text
    if names.count(text) > 1:
        raise InputError(f"{source} has two columns called '{shown(text)}'; rename one.")
    notes.append(f"The column '{shown(text)}' was sanitised, the others are as they were.")
    return text


def _item(record: Record, at: int, width: int, delimiter: str) -> Item | str:
    place = f"row {record.number}"

    def placeholder(reason: str) -> str:
        fields = [""] * width
        fields[at] = quoted(f"[{place} was not sanitised: {reason}]")
        return delimiter.join(fields) + _ending(record.raw)

    if not record.fault and not record.raw.strip("\r\n"):
        return record.raw
    fault = record.fault
    if not fault and len(record.fields) != width:
        fault = f"it has {len(record.fields)} fields and the header {width}"
    if fault:
        return Item("", place, placeholder, failure=fault)
    start, end = record.fields[at]
    return Item(
        unquoted(record.raw[start:end]),
        place,
        placeholder,
        before=record.raw[:start],
        after=record.raw[end:],
        encode=_encoder(record.raw[start:end].startswith('"'), delimiter),
    )


def _encoder(was_quoted: bool, delimiter: str) -> Callable[[str], str]:
    needs = re.compile(rf'[{re.escape(delimiter)}"\r\n]')
    return lambda text: quoted(text) if was_quoted or needs.search(text) else text


def quoted(text: str) -> str:
    """A field in quotation marks."""
    return '"' + text.replace('"', '""') + '"'


def unquoted(field: str) -> str:
    """What a raw field says."""
    return field[1:-1].replace('""', '"') if field.startswith('"') else field


def read_records(lines: Iterator[str], delimiter: str, source: str) -> Iterator[Record]:
    """The rows of a CSV file. A wrong quotation mark costs a row its first line, and no other row."""
    plain = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    again: deque[str] = deque()
    number = came = searched = 0

    def following() -> str | None:
        nonlocal came
        if again:
            return again.popleft()
        line = next(lines, None)
        came += len(line or "")
        return line

    while (line := following()) is not None:
        number += 1
        taken = [line]
        while True:
            raw = "".join(taken)
            fields, state = _split(raw, delimiter, plain)
            if state != "open":
                break
            searched += len(raw)
            if searched > _READ_AGAIN + 16 * came:
                raise InputError(f"{source} has too many quotation marks that do not close to be CSV.")
            while (more := following()) is not None:
                taken.append(more)
                closes = '"' in more.replace('""', "")  # two marks stand for one inside the field
                if closes or len(taken) >= _LINES_IN_A_RECORD:
                    break
            if more is None or len(taken) >= _LINES_IN_A_RECORD:
                state = "a quotation mark is not closed"
                break
        if state != "whole":  # the lines behind the first may be rows of their own
            again.extendleft(reversed(taken[1:]))
            taken = taken[:1]
        yield Record(number, "".join(taken), fields, "" if state == "whole" else state)


_QUOTED = re.compile(r'"(?:[^"]|"")*+"')


def _split(raw: str, delimiter: str, plain: "re.Pattern[str]") -> tuple[tuple[tuple[int, int], ...], str]:
    """The places of the fields, and `whole`, `open` (inside quotation marks at the end) or what is wrong."""
    fields, at = [], 0
    while True:
        if raw.startswith('"', at):
            match = _QUOTED.match(raw, at)
            if match is None:
                return (), "open"
        else:
            match = plain.match(raw, at)
            assert match is not None, "an empty field matches"
        fields.append(match.span())
        if len(fields) > LIMITS.columns:
            return (), f"it has more than {LIMITS.columns:,} fields"
        at = match.end()
        if at == len(raw) or raw[at] in "\r\n":
            return tuple(fields), "whole"
        if raw[at] != delimiter:
            return (), "there is text behind a closing quotation mark"
        at += 1


def _ending(raw: str) -> str:
    return raw[len(raw.rstrip("\r\n")) :]
