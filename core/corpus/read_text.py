"""Text, CSV and JSON Lines: files that are read line by line."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import BinaryIO

from core.corpus.columns import Columns, choose_columns
from core.corpus.encoding import Encoding, detect, spoken
from core.corpus.intake import Intake
from core.corpus.limits import MEGABYTE, bounded_lines, shown
from core.errors import InputError

Row = tuple[int, Mapping[str, object]]  # its number in the file, and its values by column

SAMPLE_ROWS = 200
_HEADER_BYTES = 64 * 1024
_DELIMITERS = ",;\t|"
_FIELDS_IN_A_RECORD = 1_000_000  # separators between two row ends, those inside quoted text included


def read_text(stream: BinaryIO, intake: Intake, *, user_column: str | None, text_column: str | None) -> None:
    """Plain text: documents are separated by blank lines and belong to one user."""
    if user_column or text_column:
        raise InputError(f"{intake.source} is plain text and has no columns to name.")
    for row, text in enumerate(_paragraphs(_lines(stream, intake)), start=1):
        intake.take(None, text, row)
    if intake.users == "auto":
        intake.notes.append("A text file says nothing about users, so all of it is one user.")


def read_csv(stream: BinaryIO, intake: Intake, *, user_column: str | None, text_column: str | None) -> None:
    """CSV with a header row; the separator is the comma, semicolon, tab or bar that the header uses most."""
    head = stream.read(_HEADER_BYTES).split(b"\n", 1)[0]
    if max(head.count(delimiter.encode()) for delimiter in _DELIMITERS) >= intake.limits.columns:
        raise InputError(f"{intake.source} has more than {intake.limits.columns:,} columns.")
    lines = _lines(stream, intake)
    first = next((line for line in lines if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    if first.count(delimiter) >= intake.limits.columns:
        raise InputError(f"{intake.source} has more than {intake.limits.columns:,} columns.")
    # the csv module keeps one limit for the whole process; it is only ever raised
    csv.field_size_limit(max(csv.field_size_limit(), intake.limits.document_chars))
    records = _records(chain([first], lines), delimiter, intake)
    names = [name.strip() for name in next(records, (1, []))[1]]
    _check_header(names, intake)
    rows: Iterator[Row] = (
        (row, dict(zip(names, fields, strict=True))) for row, fields in _square(records, names, intake)
    )
    _take_rows(rows, names, intake, user_column, text_column)


def read_jsonl(stream: BinaryIO, intake: Intake, *, user_column: str | None, text_column: str | None) -> None:
    """JSON Lines: one object on each line; its keys are the columns."""
    _check_rows(stream, intake)
    rows = _objects(_lines(stream, intake), intake)
    sample = list(islice(rows, SAMPLE_ROWS))
    names = list(dict.fromkeys(name for _, record in sample for name in record))[: intake.limits.columns]
    _take_rows(chain(sample, rows), names, intake, user_column, text_column)


def _check_rows(stream: BinaryIO, intake: Intake) -> None:
    """Refuse too many rows before any is parsed: in JSON Lines a row is a line, so they can be counted."""
    rows = 0
    while block := stream.read(MEGABYTE):
        rows += block.count(b"\n") - block.count(b"\n\n")
    stream.seek(0)
    if rows > intake.limits.documents:
        raise InputError(
            f"{intake.source} has more than {intake.limits.documents:,} documents; "
            "split it, or join short rows of one user."
        )


def _lines(stream: BinaryIO, intake: Intake) -> Iterator[str]:
    """The lines of a byte stream in the encoding that was found, which is noted when it was guessed."""
    encoding = detect(stream, intake.source)
    note_encoding(encoding, intake)
    return bounded_lines(
        io.TextIOWrapper(stream, encoding=encoding.codec, newline=""), intake.limits, intake.source
    )


def note_encoding(encoding: Encoding, intake: Intake) -> None:
    """Say which encoding was used where it was not plain UTF-8."""
    if encoding.guessed:
        intake.notes.append(
            f"The encoding was guessed to be {spoken(encoding.codec)}; check words with accents."
        )
    elif encoding.codec not in ("utf-8", "utf-8-sig"):
        intake.notes.append(f"Read as {spoken(encoding.codec)}, as the file is marked.")


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Runs of lines between blank lines."""
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield "".join(held)
            held = []
    if held:
        yield "".join(held)


def _records(lines: Iterable[str], delimiter: str, intake: Intake) -> Iterator[tuple[int, list[str]]]:
    """Row number and fields; rows that are no CSV are dropped. The header is row 1."""
    separators = 0

    def counted() -> Iterator[str]:
        nonlocal separators
        for line in lines:
            separators += line.count(delimiter)
            if separators > _FIELDS_IN_A_RECORD:
                raise InputError(f"{intake.source} has a row of more than {_FIELDS_IN_A_RECORD:,} fields.")
            yield line

    reader = csv.reader(counted(), delimiter=delimiter, strict=True)
    row = 0
    while True:
        separators = 0
        row += 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            unclosed = "unexpected end" in str(error) or "larger than field limit" in str(error)
            reason = "a quotation mark is not closed" if unclosed else "not CSV: a stray quotation mark"
            intake.drop(reason, f"row {row}")
            continue
        if fields:
            yield row, fields


def _square(
    records: Iterable[tuple[int, list[str]]], names: list[str], intake: Intake
) -> Iterator[tuple[int, list[str]]]:
    """Only the rows that have as many fields as the header."""
    for row, fields in records:
        if len(fields) == len(names):
            yield row, fields
        else:
            intake.drop(f"not {len(names)} fields as the header has", f"row {row}")


def _check_header(names: list[str], intake: Intake) -> None:
    """Refuse a first row that cannot be column names."""
    if not names:
        raise InputError(f"{intake.source} has no rows.")
    if any(len(name) > 100 or name.replace(".", "", 1).isdigit() for name in names):
        raise InputError(
            f"The first row of {intake.source} does not look like column names; add a header row."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{intake.source} has two columns called '{shown(twice)}'; rename one.")


def _objects(lines: Iterable[str], intake: Intake) -> Iterator[Row]:
    """Row number and record of each line that is a JSON object; other lines are dropped."""
    for row, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except RecursionError:
            intake.drop("nested too deeply", f"row {row}")
            continue
        except ValueError:
            if row == 1 and line.strip() in ("[", "{"):
                raise InputError(
                    f"{intake.source} is one JSON value over many lines; write one object on each line."
                ) from None
            intake.drop("not JSON", f"row {row}")
            continue
        if isinstance(record, dict):
            yield row, record
        else:
            intake.drop("not a JSON object", f"row {row}")


def _take_rows(
    rows: Iterable[Row],
    names: list[str],
    intake: Intake,
    user_column: str | None,
    text_column: str | None,
) -> None:
    """Choose the columns from the first rows, then take all rows."""
    iterator = iter(rows)
    sample = list(islice(iterator, SAMPLE_ROWS))
    if not sample:
        return
    columns: Columns = choose_columns(
        names,
        [record for _, record in sample],
        user_column=user_column,
        text_column=text_column,
        file=intake.source,
    )
    intake.notes.append(columns.how)
    for row, record in chain(sample, iterator):
        user = record.get(columns.user) if columns.user is not None else None
        intake.take(user, record.get(columns.text), row)
