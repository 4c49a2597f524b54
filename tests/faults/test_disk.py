"""A full disk, read-only files and a held lock: one exception type, and no debit is invented."""

import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event

from core.errors import LedgerUnavailable
from core.settings import Settings
from core.store import Store, open_store
from tests.faults.workers import PARTS, debit_as_nobody, debit_on_a_small_disk, open_corpus, processes

LOSS = [1e-6] * PARTS


def used(store: Store) -> int:
    budget = store.ledger.budget("ward")
    assert budget is not None
    return budget.used


def debit_until_refused(store: Store) -> tuple[int, LedgerUnavailable]:
    for count in range(10_000):
        try:
            store.ledger.debit("ward", LOSS)
        except LedgerUnavailable as error:
            return count, error
    raise AssertionError("the disk was never full")


def in_child(work: Callable[..., None], *arguments: object) -> tuple:
    mine, theirs = processes.Pipe(duplex=False)
    child = processes.Process(target=work, args=(*arguments, theirs))
    child.start()
    theirs.close()
    result = mine.recv()
    child.join()
    return result


def test_a_database_that_may_not_grow_refuses_and_goes_on_when_it_may(settings: Settings):
    with open_store(settings) as store:
        open_corpus(store, queries=10**6)
        limit = [0]

        @event.listens_for(store.engine, "checkout")
        def shrink(connection: sqlite3.Connection, *_: object) -> None:
            if limit[0]:
                connection.execute(f"PRAGMA max_page_count = {limit[0]}")

        limit[0] = 1  # SQLite takes that as "not one page more than there are"
        count, error = debit_until_refused(store)
        assert "disk is full" in str(error)
        assert used(store) == count
        assert store.ledger.verify().ok
        limit[0] = 1_000_000
        store.ledger.debit("ward", LOSS)
        assert used(store) == count + 1


def test_a_disk_that_takes_no_more_bytes_refuses_and_goes_on_when_it_does(settings: Settings):
    with open_store(settings) as store:
        open_corpus(store, queries=10**6)
    receipts, errors, counted = in_child(debit_on_a_small_disk, settings, 6_000)
    assert {kind for kind, _ in errors} == {"LedgerUnavailable"}
    assert errors
    assert counted >= len(receipts) + 1
    with open_store(settings) as store:
        found = store.ledger.verify()
        assert found.ok, found.breaks
        written = {entry.sequence for entry in store.ledger.entries(limit=1000)}
        assert set(receipts) <= written
        # The first debit, the receipts, and no write that failed.
        assert used(store) == counted == len(receipts) + 1


def test_files_that_are_read_only_refuse(settings: Settings):
    # Not in tmp_path: its parents are closed to the unprivileged user that the child becomes.
    folder = Path(tempfile.mkdtemp(prefix="submix-readonly-"))
    folder.chmod(0o755)
    try:
        there = settings.model_copy(update={"data_dir": folder / "data"})
        with open_store(there) as store:
            open_corpus(store)
        kind, sentence = in_child(debit_as_nobody, there, folder)
        assert kind == "LedgerUnavailable", sentence
        (folder / "data").chmod(0o700)
        for path in (folder / "data").iterdir():
            path.chmod(0o600)
        with open_store(there) as store:
            assert used(store) == 0
            assert store.ledger.verify().ok
    finally:
        shutil.rmtree(folder)


def test_a_database_opened_read_only_refuses(settings: Settings):
    with open_store(settings) as store:
        open_corpus(store)
    url = f"sqlite:///file:{settings.data_dir / 'studio.db'}?mode=ro&uri=true"
    with open_store(settings.model_copy(update={"database_url": url})) as store:
        with pytest.raises(LedgerUnavailable, match="read-only"):
            store.ledger.debit("ward", LOSS)
        assert used(store) == 0
        assert store.ledger.verify().ok


def test_a_mark_that_cannot_be_written_stops_the_release(settings: Settings):
    with open_store(settings) as store:
        open_corpus(store)
        mark = settings.data_dir / "ledger.mark"
        mark.rename(settings.data_dir / "away")
        mark.mkdir()
        with pytest.raises(LedgerUnavailable):
            store.ledger.debit("ward", LOSS)
        mark.rmdir()
        with pytest.raises(LedgerUnavailable, match="mark is missing"):
            store.ledger.debit("ward", LOSS)
        (settings.data_dir / "away").rename(mark)
        store.ledger.debit("ward", LOSS)
        assert used(store) == 1


@pytest.mark.parametrize(
    ("held", "busy", "answered"),
    [(0.3, 60.0, True), (600.0, 0.3, False), pytest.param(600.0, 5.0, False, marks=pytest.mark.slow)],
)
def test_a_lock_is_waited_for_but_not_for_ever(settings: Settings, held: float, busy: float, answered: bool):
    with open_store(settings, busy_seconds=busy) as store:
        open_corpus(store)
        holding, done = threading.Event(), threading.Event()

        def hold() -> None:
            connection = sqlite3.connect(settings.data_dir / "studio.db", isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            holding.set()
            done.wait(held)
            connection.execute("ROLLBACK")
            connection.close()

        holder = threading.Thread(target=hold, daemon=True)
        holder.start()
        holding.wait()
        if answered:
            store.ledger.debit("ward", LOSS)
        else:
            for _ in range(2 if busy < 1 else 8):
                with pytest.raises(LedgerUnavailable, match="locked"):
                    store.ledger.debit("ward", LOSS)
            assert holder.is_alive(), "the debit waited for the holder"
            assert used(store) == 0
            done.set()
        holder.join()
        store.ledger.debit("ward", LOSS)
        assert used(store) == 1 + answered
        assert store.ledger.verify().ok
