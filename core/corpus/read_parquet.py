"""Parquet: columns are chosen from the schema and a few rows, then read in small batches."""

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from core.corpus.columns import choose_columns
from core.corpus.intake import Intake
from core.corpus.limits import MEGABYTE
from core.errors import InputError

MAGIC = b"PAR1"
_BATCH = 1024
_SAMPLE = 50


def read_parquet(
    stream: BinaryIO, intake: Intake, *, user_column: str | None, text_column: str | None
) -> None:
    """Take the rows of a Parquet file whose text column holds strings."""
    import pyarrow as pa

    try:
        _read(stream, intake, user_column, text_column)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        raise InputError(f"{intake.source} is a damaged Parquet file.") from error


def _read(stream: BinaryIO, intake: Intake, user_column: str | None, text_column: str | None) -> None:
    import pyarrow.parquet as pq

    limits = intake.limits
    _check_footer(stream, intake)
    thrift = {
        "thrift_string_size_limit": limits.directory_bytes,
        "thrift_container_size_limit": limits.columns * 100,
    }
    with pq.ParquetFile(stream, pre_buffer=False, **thrift) as file:
        schema = file.schema_arrow
        if len(schema) > limits.columns:
            raise InputError(f"{intake.source} has more than {limits.columns:,} columns.")
        flat = [field.name for field in schema if _is_readable(field.type)]
        readable = [name for name in flat if flat.count(name) == 1]
        _check_inflated(file, readable, intake)
    stream.seek(0)
    # strings stay as a dictionary and indices: a value that is repeated a million times is held once
    with pq.ParquetFile(stream, pre_buffer=False, read_dictionary=readable, **thrift) as file:
        sample = list(_rows(file, readable, _SAMPLE, first_batch=True))
        columns = choose_columns(
            readable, sample, user_column=user_column, text_column=text_column, file=intake.source
        )
        intake.notes.append(columns.how)
        wanted = [columns.text] if columns.user is None else [columns.text, columns.user]
        held = 0
        for row, record in enumerate(_rows(file, wanted, _BATCH), start=1):
            user = record[columns.user] if columns.user is not None else None
            text = record[columns.text]
            held += sys.getsizeof(text)
            if held > limits.inflated_bytes:
                raise InputError(
                    f"{intake.source} inflates to more than {limits.inflated_bytes // MEGABYTE} MB."
                )
            intake.take(user, text, row)


def _rows(
    file: Any, names: list[str], size: int, *, first_batch: bool = False
) -> Iterator[dict[str, object]]:
    """Records of the named columns, a batch in memory at a time."""
    for batch in file.iter_batches(batch_size=size, columns=names, use_threads=False):
        values = {name: _values(batch.column(name)) for name in names}
        yield from ({name: values[name][index] for name in names} for index in range(batch.num_rows))
        if first_batch:
            return


def _is_readable(kind: Any) -> bool:
    """Strings, for text and ids, and numbers, for ids; also where they are kept as a dictionary."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return _is_readable(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
    )


def _values(column: Any) -> list[object]:
    """A column as Python values; equal dictionary entries share one string."""
    import pyarrow as pa

    column.validate(full=True)
    if not pa.types.is_dictionary(column.type):
        values: list[object] = column.to_pylist()
        return values
    entries = column.dictionary.to_pylist()
    return [None if index is None else entries[index] for index in column.indices.to_pylist()]


def _check_footer(stream: BinaryIO, intake: Intake) -> None:
    """Refuse a file without its closing mark, and one whose description of itself is enormous."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 8))
    tail = stream.read(8)
    stream.seek(0)
    if size < 12 or tail[4:] != MAGIC:
        raise InputError(f"{intake.source} is a Parquet file that was cut off.")
    if int.from_bytes(tail[:4], "little") > intake.limits.directory_bytes:
        raise InputError(f"{intake.source} describes too many columns or row groups to be a corpus.")


def _check_inflated(file: Any, readable: list[str], intake: Intake) -> None:
    """Refuse by the sizes and row counts that the footer declares."""
    metadata = file.metadata
    if metadata.num_rows > intake.limits.lines:
        raise InputError(f"{intake.source} has more than {intake.limits.lines:,} rows.")
    wanted = set(readable)
    total = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(metadata.num_columns):
            column = row_group.column(index)
            total += column.total_uncompressed_size if column.path_in_schema in wanted else 0
    if total > intake.limits.inflated_bytes:
        limit = intake.limits.inflated_bytes // MEGABYTE
        raise InputError(f"{intake.source} inflates to more than {limit} MB.")
