"""A restored, deleted, swapped or cut database, and a clock set back: debits that left are not forgotten."""

import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from core.errors import LedgerUnavailable
from core.settings import Settings
from core.store import Store, open_store
from tests.faults.workers import PARTS, kill_in_mid_write, open_corpus

LOSS = [0.01] * PARTS


def debit(store: Store, times: int = 5) -> None:
    for _ in range(times):
        store.ledger.debit("ward", LOSS)


def copy_database(settings: Settings, target: Path) -> None:
    target.mkdir()
    for path in settings.data_dir.glob("studio.db*"):
        shutil.copy(path, target)


def restore_database(settings: Settings, source: Path) -> None:
    for path in settings.data_dir.glob("studio.db*"):
        path.unlink()
    for path in source.glob("studio.db*"):
        shutil.copy(path, settings.data_dir)


@pytest.fixture
def old(settings: Settings, tmp_path: Path) -> Path:
    """A ledger of ten debits, and a copy of its database from when it had five."""
    with open_store(settings) as store:
        open_corpus(store)
        debit(store)
    copy_database(settings, tmp_path / "old")
    with open_store(settings) as store:
        debit(store)
    return tmp_path / "old"


def refused_until_adopted(settings: Settings, sign: str) -> None:
    with pytest.raises(LedgerUnavailable, match=sign):
        open_store(settings)
    with open_store(settings, check=False) as store:
        with pytest.raises(LedgerUnavailable, match=sign):
            store.ledger.debit("ward", LOSS)
        assert not store.ledger.verify().ok
        entries = len(store.ledger.entries(limit=1000))
        accepted = store.ledger.adopt()
        assert accepted is not None
        assert store.ledger.verify().ok
        assert len(store.ledger.entries(limit=1000)) == max(entries, 1) + 1
    with open_store(settings) as store:
        assert store.ledger.verify().ok


def test_an_old_copy_is_refused_until_a_curator_adopts_it(settings: Settings, old: Path):
    restore_database(settings, old)
    refused_until_adopted(settings, "older than what this server already released")
    with open_store(settings) as store:
        debit(store)


def test_an_old_copy_that_grew_past_the_mark_elsewhere_is_refused(settings: Settings, old: Path):
    elsewhere = settings.model_copy(update={"data_dir": old})
    with open_store(elsewhere, check=False) as store:
        store.ledger.adopt()
        debit(store, 20)
    restore_database(settings, old)
    refused_until_adopted(settings, "not the one that this server wrote")


def test_a_deleted_database_is_refused_and_not_made_anew(settings: Settings, old: Path):
    for path in settings.data_dir.glob("studio.db*"):
        path.unlink()
    with pytest.raises(LedgerUnavailable, match="is gone"):
        open_store(settings)
    assert not (settings.data_dir / "studio.db").exists()
    with open_store(settings, check=False) as store:
        with pytest.raises(LedgerUnavailable, match="empty"):
            open_corpus(store)
        assert store.ledger.adopt() is not None
        open_corpus(store)
        debit(store)


def test_an_emptied_database_is_refused(settings: Settings, old: Path):
    for path in settings.data_dir.glob("studio.db*"):
        path.unlink()
    (settings.data_dir / "studio.db").touch()
    with pytest.raises(LedgerUnavailable, match="empty"):
        open_store(settings)


def test_a_missing_or_damaged_mark_beside_a_database_file_is_refused(settings: Settings, old: Path):
    mark = settings.data_dir / "ledger.mark"
    mark.unlink()
    refused_until_adopted(settings, "mark is missing")
    mark.write_bytes(mark.read_bytes()[:100])
    refused_until_adopted(settings, "mark is damaged")


@pytest.mark.parametrize("action", ["delete", "restore"])
def test_a_file_taken_from_under_a_running_server_stops_it(settings: Settings, old: Path, action: str):
    with open_store(settings) as store:
        debit(store)
        if action == "delete":
            for path in settings.data_dir.glob("studio.db*"):
                path.unlink()
        else:
            restore_database(settings, old)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match="deleted or replaced"):
                debit(store)
    with pytest.raises(LedgerUnavailable):
        open_store(settings)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_write_ahead_log_is_seen(settings: Settings, share: float):
    with open_store(settings) as store:
        open_corpus(store)
    released = [
        # So many that what is cut off holds more than the one or two that were written and not released.
        *kill_in_mid_write(settings, random.Random(1), least=40),
        *kill_in_mid_write(settings, random.Random(2), least=40),
    ]
    wal = settings.data_dir / "studio.db-wal"  # a killed process does not fold it into the database
    copy_database(settings, settings.data_dir / "whole")
    with wal.open("r+b") as stream:
        stream.truncate(int(wal.stat().st_size * share))
    with pytest.raises(LedgerUnavailable, match="older than what this server"):
        open_store(settings)
    restore_database(settings, settings.data_dir / "whole")
    with open_store(settings) as store:
        assert store.ledger.verify().ok
        assert {sequence for sequence, _ in released} <= {
            e.sequence for e in store.ledger.entries(limit=10**6)
        }


def test_a_clock_set_back_changes_no_amount_and_no_order(settings: Settings):
    with open_store(settings) as store:
        open_corpus(store, queries=20)
        clock = [datetime.now(UTC)]
        store.ledger._now = lambda: clock[0]
        for days in (0, -400, 3, -2):
            clock[0] += timedelta(days=days)
            debit(store)
        times = [entry.time for entry in store.ledger.entries(limit=100)]
        assert times == sorted(times, reverse=True)
        assert store.ledger.verify().ok
        with pytest.raises(Exception, match="All 20 queries"):
            debit(store)


def test_an_old_copy_behind_a_database_server_is_seen_too(any_settings: Settings):
    with open_store(any_settings) as store:
        open_corpus(store)
        debit(store)
        with store.engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("ALTER TABLE ledger_entries DISABLE TRIGGER USER"))
            else:
                connection.execute(text("DROP TRIGGER ledger_entries_no_delete"))
            connection.execute(text("DELETE FROM ledger_entries WHERE sequence > 4"))
        with pytest.raises(LedgerUnavailable, match="older than"):
            debit(store)
        assert any("older than" in sentence for sentence in store.ledger.verify().breaks)
