"""Read an upload into users and documents: one door for text, CSV, JSON Lines, Parquet and zips of text."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from core.corpus.documents import Corpus
from core.corpus.encoding import known_binary
from core.corpus.intake import Intake, Users
from core.corpus.limits import DEFAULT_LIMITS, MEGABYTE, Limits, shown
from core.corpus.read_parquet import MAGIC as PARQUET_MAGIC
from core.corpus.read_parquet import read_parquet
from core.corpus.read_text import read_csv, read_jsonl, read_text
from core.corpus.read_zip import MAGICS as ZIP_MAGICS
from core.corpus.read_zip import read_zip
from core.errors import InputError

Reader = Callable[..., None]
_BY_SUFFIX: dict[str, Reader] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_text,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_jsonl,
}
ACCEPTED = (*_BY_SUFFIX, ".parquet", ".zip")  # for the file pickers of the pages


def read_corpus(
    path: Path | str,
    *,
    user_column: str | None = None,
    text_column: str | None = None,
    users: Users = "auto",
    synthetic: bool = False,
    name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Corpus:
    """Read a file into a corpus; whatever cannot be read is an InputError with one sentence.

    `users="document"` declares that each document is from a different user. `synthetic` is the
    curator's word that no real person is in the text; nothing in a file can set it.
    """
    path = Path(path)
    source = shown(path)
    size = _checked_size(path, source, limits)
    try:
        with path.open("rb") as stream:
            reader = _reader(stream, path, source, size)
            intake = Intake(source, limits, users)
            reader(stream, intake, user_column=user_column, text_column=text_column)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or 'the disk failed'}.") from error
    return intake.corpus(name or shown(path.stem), synthetic=synthetic)


def _checked_size(path: Path, source: str, limits: Limits) -> int:
    """The size of a regular, non-empty file within the limit."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise InputError(f"{source} cannot be found.") from error
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{source} is not a file.")
    if status.st_size == 0:
        raise InputError(f"{source} is empty.")
    if status.st_size > limits.file_bytes:
        raise InputError(
            f"{source} has {status.st_size / MEGABYTE:,.0f} MB; "
            f"at most {limits.file_bytes // MEGABYTE} MB are read."
        )
    return status.st_size


def _reader(stream: BinaryIO, path: Path, source: str, size: int) -> Reader:
    """The reader for what the file is: by its first bytes, then by its ending."""
    head = stream.read(min(size, 4096))
    stream.seek(0)
    suffix = path.suffix.lower()
    if head.startswith(PARQUET_MAGIC):
        return read_parquet
    if head.startswith(ZIP_MAGICS):
        return read_zip
    if (what := known_binary(head)) is not None:
        raise InputError(f"{source} is {what}.")
    if suffix in (".parquet", ".zip"):
        raise InputError(f"{source} is named {suffix} but is not such a file.")
    if suffix not in _BY_SUFFIX:
        ending = f"files ending in {shown(suffix)}" if suffix else "files without an ending"
        raise InputError(f"{source}: {ending} are not read; use {', '.join(ACCEPTED)}.")
    return _BY_SUFFIX[suffix]
