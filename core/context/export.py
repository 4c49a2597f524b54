"""Detected sentences as CSV and JSONL, a line at a time: text, start, end, score, flagged."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Literal

from core.context.detector import Sentence
from core.errors import InputError

ExportFormat = Literal["csv", "jsonl"]
FIELDS = ("text", "start", "end", "score", "flagged")


def export(sentences: Iterable[Sentence], form: ExportFormat) -> Iterator[str]:
    """The lines of an export. Offsets count characters; CSV cells that a spreadsheet would run are quoted."""
    if form == "jsonl":
        return (json.dumps(record(each), ensure_ascii=False) + "\n" for each in sentences)
    if form == "csv":
        return _csv(sentences)
    raise InputError(f"Sentences can be written as csv or jsonl, not as {form!r}.")


def record(sentence: Sentence) -> dict[str, object]:
    """A sentence as one object."""
    return {
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "score": round(sentence.score, 4),
        "flagged": sentence.flagged,
    }


def _csv(sentences: Iterable[Sentence]) -> Iterator[str]:
    from core.store.clean import cell

    yield ",".join(FIELDS) + "\r\n"
    for sentence in sentences:
        buffer = io.StringIO()
        csv.writer(buffer).writerow([cell(value) for value in record(sentence).values()])
        yield buffer.getvalue()
