import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from core.errors import LedgerUnavailable
from core.settings import Settings
from core.store import Store, open_store
from core.store.tables import Base
from tests.core.store.budgets import open_ward, ward


def test_the_migrations_make_exactly_the_tables_of_the_models(store: Store):
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_opening_makes_the_folder_for_its_owner_alone(tmp_path: Path):
    settings = Settings(data_dir=tmp_path / "new" / "data", database_url="")
    with open_store(settings):
        assert stat.S_IMODE(settings.data_dir.stat().st_mode) == 0o700
        names = {path.name for path in settings.data_dir.iterdir()}
    assert {"studio.db", "ledger.mark", "key"} <= names


def test_sqlite_is_set_for_durability(sqlite_settings: Settings):
    with open_store(sqlite_settings) as store, store.engine.connect() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(LedgerUnavailable, match="data folder or the database cannot be opened"):
        open_store(Settings(data_dir=tmp_path / "file" / "data", database_url=""))


@pytest.mark.parametrize(
    ("url", "sign"),
    [
        ("not a url", "cannot be read"),
        ("postgresql://me:hunter2@host:port/x", "cannot be read"),
        ("nosuch://me:hunter2@host/x", "no driver"),
        ("mysql+nosuch://me:hunter2@host/x", "no driver"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:///file:x?mode=memory&uri=true", "in memory"),
        ("sqlite:////nonexistent-folder/x/studio.db", "cannot be opened"),
        ("postgresql+psycopg://me:hunter2@127.0.0.1:1/x", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_had_is_a_sentence_without_the_password(
    tmp_path: Path, url: str, sign: str
):
    with pytest.raises(LedgerUnavailable, match=sign) as refusal:
        open_store(Settings(data_dir=tmp_path / "data", database_url=url))
    assert "hunter2" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_no_database_is_a_sentence(sqlite_settings: Settings):
    sqlite_settings.data_dir.mkdir()
    (sqlite_settings.data_dir / "studio.db").write_bytes(b"something else entirely" * 100)
    with pytest.raises(LedgerUnavailable, match="damaged"):
        open_store(sqlite_settings)


def test_a_database_of_a_newer_version_is_left_alone(sqlite_settings: Settings):
    open_store(sqlite_settings).close()
    with sqlite3.connect(sqlite_settings.data_dir / "studio.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(LedgerUnavailable, match="newer version"):
        open_store(sqlite_settings)


def test_another_database_may_replace_one_from_which_nothing_was_released(tmp_path: Path):
    first = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path}/a.db")
    second = Settings(data_dir=tmp_path, database_url=f"sqlite:///{tmp_path}/b.db")
    open_store(first).close()
    with open_store(second) as store:
        open_ward(store)
    with pytest.raises(LedgerUnavailable, match="released"):
        open_store(first)


def test_a_crash_between_first_entry_and_mark_is_healed(sqlite_settings: Settings):
    open_store(sqlite_settings).close()
    (sqlite_settings.data_dir / "ledger.mark").unlink()
    with open_store(sqlite_settings) as store:
        open_ward(store)
        assert store.ledger.verify().ok


def _open_and_debit(settings: Settings, start: "multiprocessing.synchronize.Barrier") -> None:
    start.wait()
    with open_store(settings) as store:
        try:
            open_ward(store)
        except Exception:
            ward(store)
        store.ledger.debit("ward", [0.1] * 3)


def test_processes_that_start_together_share_one_ledger(settings: Settings):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.core.store.test_open"])
    start = context.Barrier(3)
    processes = [context.Process(target=_open_and_debit, args=(settings, start)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with open_store(settings) as store:
        assert ward(store).used == 3
        assert [entry.kind for entry in store.ledger.entries()].count("genesis") == 1
        assert store.ledger.verify().ok
