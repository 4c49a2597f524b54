"""Reading files of word vectors: GloVe and word2vec text, word2vec binary, each also gzipped; all checked."""

import gzip
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.corpus.limits import shown
from core.errors import InputError

Matrix = NDArray[np.float32]

_HEADER = re.compile(rb"(\d{1,9}) (\d{1,5})\s*")
_BUFFER = 64 * 1024
_LONGEST_LINE = 1 << 20
_ROWS = 16_384  # rows parsed before they become one array


def read_vector_file(path: Path) -> tuple[list[str], Matrix]:
    """The words and vectors of a file; what is wrong with it is an InputError with one sentence.

    gensim's own `.save()` format is a pickle and is refused: loading one runs whatever is in it.
    """
    name = shown(path)
    try:
        with path.open("rb") as raw:
            head = raw.read(2)
            raw.seek(0)
            if head.startswith(b"\x80"):
                raise InputError(
                    f"{name} is a pickle, which can run code when it is loaded: it is refused. Where it was "
                    "made, write KeyedVectors.load(...).save_word2vec_format('vectors.bin', binary=True)."
                )
            if head == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as inflated:
                    return _read(io.BufferedReader(inflated, _BUFFER), name)
            return _read(raw, name)
    except (OSError, EOFError) as error:
        raise _unreadable(name, "the file is damaged or cut short") from error


def _read(stream: io.BufferedReader, name: str) -> tuple[list[str], Matrix]:
    head = stream.peek(_BUFFER)
    first, _, rest = head.partition(b"\n")
    header = _HEADER.fullmatch(first)
    if header is None:
        return _collect(_text_rows(stream, name, 1, None), name)
    stream.readline()
    count, dimension = int(header[1]), int(header[2])
    if dimension == 0 or count == 0:
        raise _unreadable(name, "its first line says that it is empty")
    if _looks_binary(rest, dimension):
        return _collect(_binary_rows(stream, name, count, dimension), name, count)
    return _collect(_text_rows(stream, name, 2, dimension), name, count)


def _looks_binary(sample: bytes, dimension: int) -> bool:
    """Text has `dimension` numbers behind the first word; a binary file has bytes that are no text."""
    line = sample.partition(b"\n")[0]
    try:
        [float(field) for field in line.split()[-dimension:]]
    except ValueError:
        return not line.isascii() or b"\0" in line
    return False


def _text_rows(
    stream: BinaryIO, name: str, first_line: int, dimension: int | None
) -> Iterator[tuple[str, list[float]]]:
    """Word and numbers of each line; a word may hold spaces, so the numbers are counted from the end."""
    number = first_line - 1
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        fields = line.rstrip(b"\r\n ").split(b" ")
        if dimension is None:
            dimension = len(fields) - 1
        if dimension < 1 or len(fields) <= dimension:
            raise _unreadable(name, f"line {number:,} has {len(fields) - 1} numbers instead of {dimension}")
        try:
            word = b" ".join(fields[:-dimension]).decode()
            values = [float(field) for field in fields[-dimension:]]
        except UnicodeDecodeError:
            raise _unreadable(name, f"line {number:,} is not UTF-8") from None
        except ValueError:
            raise _unreadable(name, f"line {number:,} has something that is not a number") from None
        if " " in word and _is_number(word.rsplit(" ", 1)[1]):
            raise _unreadable(name, f"line {number:,} has more than {dimension} numbers")
        yield word, values


def _binary_rows(
    stream: BinaryIO, name: str, count: int, dimension: int
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    for row in range(1, count + 1):
        letters = bytearray()
        while (letter := stream.read(1)) != b" ":
            if not letter or len(letters) > _LONGEST_LINE:
                raise _unreadable(name, f"it ends before word {row:,} of {count:,}")
            if letter != b"\n" or letters:
                letters += letter
        values = stream.read(4 * dimension)
        if len(values) < 4 * dimension:
            raise _unreadable(name, f"it ends inside word {row:,} of {count:,}")
        try:
            yield letters.decode(), np.frombuffer(values, "<f4")
        except UnicodeDecodeError:
            raise _unreadable(name, f"word {row:,} is not UTF-8") from None


def _collect(
    rows: "Iterator[tuple[str, list[float]]] | Iterator[tuple[str, NDArray[np.float32]]]",
    name: str,
    count: int | None = None,
) -> tuple[list[str], Matrix]:
    """All rows, with every word there once and every number finite."""
    seen: dict[str, None] = {}
    blocks: list[Matrix] = []
    pending: list[object] = []
    for word, values in rows:
        if word in seen:
            raise _unreadable(name, f"the word '{shown(word)}' is there twice")
        seen[word] = None
        pending.append(values)
        if len(pending) == _ROWS:
            blocks.append(_block(pending, seen, name))
            pending = []
    if pending:
        blocks.append(_block(pending, seen, name))
    if not seen:
        raise _unreadable(name, "it is empty")
    if count is not None and len(seen) != count:
        raise _unreadable(name, f"its first line says {count:,} words, but it has {len(seen):,}")
    return list(seen), np.concatenate(blocks)


def _block(rows: list[object], seen: dict[str, None], name: str) -> Matrix:
    block = np.array(rows, np.float32)
    good = np.isfinite(block).all(axis=1)
    if not good.all():
        word = list(seen)[len(seen) - len(rows) + int(np.argmin(good))]
        raise _unreadable(name, f"the vector of '{shown(word)}' has a value that is not a finite number")
    return block


def _is_number(field: str) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def _unreadable(name: str, reason: str) -> InputError:
    return InputError(f"{name} cannot be read as word vectors: {reason}.")
