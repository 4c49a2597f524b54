"""The session log as CSV and JSONL, a line at a time."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Literal

from core.errors import InputError
from core.store.clean import cell
from core.store.log import EVENT_FIELDS, Event

ExportFormat = Literal["csv", "jsonl"]


def export(events: Iterable[Event], form: ExportFormat) -> Iterator[str]:
    """The lines of an export file. CSV cells that a spreadsheet would run begin with an apostrophe."""
    if form == "csv":
        return _csv(events)
    if form == "jsonl":
        return _jsonl(events)
    raise InputError(f"The log can be exported as csv or jsonl, not as '{form}'.")


def _jsonl(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        record = {**asdict(event), "started": event.started.isoformat()}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _csv(events: Iterable[Event]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(EVENT_FIELDS)
    for event in events:
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        record = {**asdict(event), "started": event.started.isoformat()}
        writer.writerow([cell(value) for value in record.values()])
    yield buffer.getvalue()
