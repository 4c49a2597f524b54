import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import LedgerUnavailable
from core.store.chain import Link
from core.store.mark import Mark, MarkFile, disagreement

CHAIN = "c" * 64


def at(sequence: int, chain: str = CHAIN) -> Mark:
    return Mark(chain, sequence, f"{sequence:064d}")


@pytest.fixture
def marks(tmp_path: Path) -> MarkFile:
    return MarkFile(tmp_path / "ledger.mark", wait_seconds=0.2)


def overwrite(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(content)


def test_no_file_is_no_mark(marks: MarkFile):
    assert marks.read() is None


def test_the_mark_moves_forward_and_never_back(marks: MarkFile):
    for sequence in (1, 2, 5, 3, 4, 6):
        marks.advance(at(sequence))
    assert marks.read() == at(6)
    marks.advance(at(2))
    assert marks.read() == at(6)


@pytest.mark.parametrize("torn", [0, 4096])
def test_a_torn_slot_leaves_the_other_which_is_at_most_one_write_older(marks: MarkFile, torn: int):
    for sequence in range(1, 8):
        marks.advance(at(sequence))
    overwrite(marks.path, torn + 100, b"\0\0\0\0")
    known = marks.read()
    assert known in (at(6), at(7))
    marks.advance(at(8))
    assert marks.read() == at(8)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"submix-mark-1"),
        lambda path: path.write_bytes(b"\0" * 8192),
        lambda path: path.write_bytes(path.read_bytes().replace(b"7", b"6")),
        lambda path: path.write_bytes(b"\xff" * 8192),
    ],
)
def test_a_damaged_mark_is_never_taken_for_a_missing_or_lower_one(
    marks: MarkFile, damage: Callable[[Path], None]
):
    marks.replace(at(7))
    damage(marks.path)
    with pytest.raises(LedgerUnavailable, match="damaged"):
        marks.read()
    with pytest.raises(LedgerUnavailable, match="damaged"):
        marks.advance(at(8))


def test_a_fork_or_another_ledger_is_refused(marks: MarkFile):
    marks.advance(at(3))
    with pytest.raises(LedgerUnavailable, match="forked"):
        marks.advance(Mark(CHAIN, 3, "f" * 64))
    with pytest.raises(LedgerUnavailable, match="another ledger"):
        marks.advance(at(9, chain="d" * 64))
    assert marks.read() == at(3)


def test_a_mark_at_the_first_entry_gives_way_to_another_ledger(marks: MarkFile):
    marks.advance(at(1))
    marks.advance(at(2, chain="d" * 64))
    assert marks.read() == at(2, chain="d" * 64)


def test_a_holder_that_hangs_is_an_error_and_not_a_hang(marks: MarkFile):
    import fcntl

    marks.advance(at(1))
    with marks.path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError):
            marks.advance(at(2))


def test_only_the_owner_can_read_it(marks: MarkFile):
    marks.advance(at(1))
    assert marks.path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(marks.path.parent) == ["ledger.mark"]  # noqa: PTH208


def link(sequence: int) -> Link:
    return Link(sequence, "", "debit", digest=f"{sequence:064d}")


@pytest.mark.parametrize(
    ("mark", "head", "required", "sign"),
    [
        (None, None, True, None),
        (None, link(1), True, None),
        (None, link(2), False, None),
        (None, link(2), True, "missing"),
        (at(1), None, True, None),
        (at(5), None, True, "empty"),
        (at(5), link(4), True, "older"),
        (at(5), link(5), True, None),
        (at(5), link(9), True, None),
        (Mark(CHAIN, 5, "f" * 64), link(5), True, "not the one"),
        (Mark(CHAIN, 5, "f" * 64), link(9), True, "not the one"),
    ],
)
def test_when_a_database_is_not_the_marked_one(
    mark: Mark | None, head: Link | None, required: bool, sign: str | None
):
    found = disagreement(mark, head, lambda sequence: f"{sequence:064d}", required=required)
    assert (found is None) if sign is None else (found is not None and sign in found)
