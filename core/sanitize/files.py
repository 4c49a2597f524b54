"""Sanitising files: text, a CSV column, a JSON Lines field, a zip of text; streamed, in constant memory."""

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from core.corpus.encoding import detect, known_binary, spoken
from core.corpus.limits import MEGABYTE, shown
from core.corpus.read_zip import MAGICS
from core.errors import InputError
from core.sanitize.csv_items import csv_items
from core.sanitize.file_report import Cancelled, Failed, FileProgress, FileReport, Tally
from core.sanitize.items import Item, text_items
from core.sanitize.jsonl_items import jsonl_items
from core.sanitize.mechanism import Mechanism
from core.sanitize.noise import fresh_generator
from core.sanitize.policy import Policy
from core.sanitize.writing import Writing
from core.sanitize.zip_files import sanitize_zip

__all__ = ["ENDINGS", "Cancelled", "Failed", "FileProgress", "FileReport", "sanitize_file"]

_KINDS = {
    ".txt": "text", ".text": "text", ".md": "text", ".log": "text", "": "text",
    ".csv": "csv", ".tsv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".zip": "zip",
}  # fmt: skip
ENDINGS = tuple(ending for ending in _KINDS if ending)  # for the file pickers of the pages


def sanitize_file(
    path: Path | str,
    output: Path | str,
    mechanism: Mechanism,
    policy: Policy,
    *,
    column: str | None = None,
    consistent: bool = False,
    rng: np.random.Generator | None = None,
    progress: Callable[[FileProgress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    largest: int | None = None,
) -> FileReport:
    """Sanitise a file into another one of the same kind, and say what was done.

    `column` names the CSV column or JSON Lines field; it is found by name and content otherwise. All else
    in the file stays as it is, character for character. A row that cannot be sanitised is replaced by a
    placeholder and reported: it is neither passed through nor dropped. The output appears whole at the end
    or, after an error or a `cancelled()` that is true, not at all. A file of over `largest` bytes is refused.

    With `consistent`, a row, a file of a zip, or a whole text file is one document.
    """
    path, output = Path(path), Path(output)
    kind, total = _checked(path, output, column, largest)
    writing = Writing(
        mechanism, policy, rng or fresh_generator(), Tally(), consistent, total, progress, cancelled
    )
    try:
        with path.open("rb") as stream, _whole(output, path) as sink:
            if kind == "zip":
                sanitize_zip(stream, sink, shown(path), writing)
            else:
                _sanitize_stream(stream, sink, shown(path), kind, column, writing)
    except OSError as error:
        raise InputError(
            f"{shown(path)} cannot be sanitised: {error.strerror or 'the disk failed'}."
        ) from error
    return writing.tally.report(output, kind, writing.seconds)


def _sanitize_stream(
    stream: BinaryIO, sink: BinaryIO, source: str, kind: str, column: str | None, writing: Writing
) -> None:
    encoding = detect(stream, source)
    notes = writing.tally.notes
    kept = encoding.codec if encoding.codec == "utf-8-sig" else "utf-8"
    if encoding.guessed:
        notes.append(
            f"The encoding was guessed to be {spoken(encoding.codec)}; check words with accents. "
            "The output is UTF-8."
        )
    elif encoding.codec != kept:
        notes.append(f"Read as {spoken(encoding.codec)}, as the file is marked. The output is UTF-8.")
    text = io.TextIOWrapper(stream, encoding=encoding.codec, newline="")
    out = io.TextIOWrapper(sink, encoding=kept, newline="", write_through=True)
    items: Iterator[Item | str]
    if kind == "csv":
        items = csv_items(text, source, column, notes)
    elif kind == "jsonl":
        items = jsonl_items(text, source, column, notes)
    else:
        items = text_items(text, writing.policy, source)
    writing.write(items, out, stream.tell, one_document=kind == "text")
    out.flush()
    out.detach()
    text.detach()


def _checked(path: Path, output: Path, column: str | None, largest: int | None) -> tuple[str, int]:
    """The kind of a file and its size, or one sentence why it cannot be sanitised into `output`."""
    source = shown(path)
    if not path.is_file():
        raise InputError(f"{source} cannot be found." if not path.exists() else f"{source} is not a file.")
    size = path.stat().st_size
    if size == 0:
        raise InputError(f"{source} is empty.")
    if largest is not None and size > largest:
        raise InputError(
            f"{source} has {size / MEGABYTE:,.0f} MB; at most {largest // MEGABYTE} MB are taken."
        )
    if output.exists() and output.samefile(path):
        raise InputError("The output would overwrite the input; choose another name.")
    if not output.parent.is_dir() or output.is_dir():
        raise InputError(f"The output {shown(output)} is not a file in a folder that exists.")
    with path.open("rb") as stream:
        head = stream.read(4096)
    kind = "zip" if head.startswith(MAGICS) else _KINDS.get(path.suffix.lower())
    if kind != "zip" and (what := known_binary(head)) is not None:
        raise InputError(f"{source} is {what}.")
    if kind is None or (kind == "zip") != head.startswith(MAGICS):
        raise InputError(f"{source} is not read; use {', '.join(ENDINGS)}, and the ending for what it is.")
    if column and kind in ("text", "zip"):
        raise InputError(
            f"{source} is {'plain text' if kind == 'text' else 'a zip of text'} and has no columns."
        )
    return kind, size


@contextmanager
def _whole(output: Path, source: Path) -> Iterator[BinaryIO]:
    """A file beside the output that takes its name once it is whole, and is removed otherwise."""
    handle, name = tempfile.mkstemp(dir=output.parent, prefix=".sanitise-")
    staging = Path(name)
    try:
        with os.fdopen(handle, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        shutil.copymode(source, staging)
        staging.replace(output)
    finally:
        staging.unlink(missing_ok=True)
