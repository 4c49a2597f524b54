"""What an upload may cost: every bound is checked before, or while, something is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from core.errors import InputError

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Upper bounds on one upload. Sizes are in bytes unless the name says otherwise."""

    file_bytes: int = 64 * MEGABYTE
    inflated_bytes: int = 128 * MEGABYTE  # what a zip or a Parquet file may hold in all
    inflation: int = 100  # a zip member may be this many times larger than its compressed form
    members: int = 20_000  # files in a zip
    directory_bytes: int = 4 * MEGABYTE  # a zip's table of contents, a Parquet file's footer
    columns: int = 1_000
    lines: int = 2_000_000
    document_chars: int = 4_000_000  # also the longest line
    documents: int = 250_000
    user_id_chars: int = 256


DEFAULT_LIMITS = Limits()


class TextSource(Protocol):
    """Anything that hands out text line by line."""

    def readline(self, size: int = -1, /) -> str:
        """Return the next line, or at most `size` characters of it."""
        ...


def shown(name: str | PurePath) -> str:
    """A name from outside as a sentence may quote it: one line, printable, at most 80 characters."""
    text = name.name if isinstance(name, PurePath) else name
    clean = "".join(char if char.isprintable() else "?" for char in text)
    return clean if len(clean) <= 80 else clean[:77] + "..."


def bounded_lines(stream: TextSource, limits: Limits, name: str) -> Iterator[str]:
    """The lines of a text stream, refused when one is too long or when there are too many."""
    longest = limits.document_chars
    for _ in range(limits.lines):
        line = stream.readline(longest + 1)
        if not line:
            return
        if len(line) > longest:
            raise InputError(
                f"{name} has a line of more than {longest:,} characters; break it into documents."
            )
        yield line
    if stream.readline(1):
        raise InputError(f"{name} has more than {limits.lines:,} lines; split it into smaller files.")
