"""Sentences to teach a detector with, from a file: CSV or JSON lines with a text and whether it is sensitive.

What `detect` exports has the right columns: correct `flagged` where it is wrong, and give the file back.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.context.asked import read_text
from core.errors import InputError

MOST = 500  # sentences in a lesson
_YES = {"1", "true", "yes", "y", "sensitive"}
_NO = {"0", "false", "no", "n", "harmless"}
_ENDINGS = (".csv", ".jsonl")


@dataclass(frozen=True)
class Lesson:
    """Sentences of one's own."""

    sensitive: tuple[str, ...]
    harmless: tuple[str, ...]


def typed(sensitive: str, harmless: str) -> Lesson:
    """One sentence a line."""
    return Lesson(_lines(sensitive), _lines(harmless))


def read_lesson(path: Path) -> Lesson:
    """The sentences of a file."""
    if path.suffix.lower() not in _ENDINGS:
        raise InputError("Sentences to teach with come as a .csv or .jsonl file.")
    text = read_text(path)
    rows: Iterable[Mapping[str, Any]]
    if path.suffix.lower() == ".csv":
        rows = csv.DictReader(io.StringIO(text))
    else:
        rows = [_object(line) for line in text.splitlines() if line.strip()]
    sensitive: list[str] = []
    harmless: list[str] = []
    for number, row in enumerate(rows, 1):
        if number > MOST:
            raise InputError(f"The file has too many sentences to teach at once; at most {MOST} are taken.")
        (sensitive if _label(row, number) else harmless).append(str(row["text"]))
    return Lesson(tuple(sensitive), tuple(harmless))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


def _object(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise InputError("A line of the file is no JSON object.") from error
    if not isinstance(found, dict):
        raise InputError("A line of the file is no JSON object.")
    return found


def _label(row: Mapping[str, Any], number: int) -> bool:
    value = row.get("sensitive", row.get("flagged"))
    word = str(value).strip().lower()
    if not isinstance(row.get("text"), str) or word not in _YES | _NO:
        raise InputError(
            f"Sentence {number} of the file needs a `text`, and yes or no in `sensitive` or `flagged`."
        )
    return word in _YES
