"""Tampering: a curator's own hand on the file, with the triggers taken away first."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.settings import Settings
from core.store import Verification, open_store
from core.store.chain import from_row
from tests.core.store.budgets import open_ward


class Row(sqlite3.Row):
    def __getattr__(self, name: str) -> object:
        return self[name]


def tamper(settings: Settings, *statements: str) -> Verification:
    """A ledger of 12 entries over two corpora, changed behind our back, and what `verify` says."""
    with open_store(settings) as store:
        open_ward(store, "a")
        open_ward(store, "b", parts=2, synthetic=True)
        for step in range(4):
            store.ledger.debit("a", [0.1, 0.2, 0.01 * step])
            store.ledger.debit("b", [0.1, 0.1])
        store.ledger.stop("b", [9.0, 0.1])
        assert store.ledger.verify() == Verification(12, 2, store.ledger.entries()[0].digest, ())
    edit(settings, *statements)
    with open_store(settings, check=False) as store:
        return store.ledger.verify()


def edit(settings: Settings, *statements: str) -> None:
    connection = sqlite3.connect(settings.data_dir / "studio.db")
    for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def reseal(settings: Settings, change: Callable[[sqlite3.Connection], None]) -> None:
    """Change rows and then recompute every digest, as someone with the source code would."""
    edit(settings)
    connection = sqlite3.connect(settings.data_dir / "studio.db")
    change(connection)
    connection.row_factory = Row
    previous = "0" * 64
    openings: dict[str, str] = {}
    for row in connection.execute("SELECT * FROM ledger_entries ORDER BY sequence").fetchall():
        link = from_row(row)
        values = {**vars(link), "previous": previous, "budget": openings.get(link.budget, link.budget)}
        sealed = type(link)(**values).sealed()
        openings[link.digest] = previous = sealed.digest
        connection.execute(
            "UPDATE ledger_entries SET previous = ?, budget = ?, digest = ? WHERE sequence = ?",
            (sealed.previous, sealed.budget, sealed.digest, sealed.sequence),
        )
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statements", "sign"),
    [
        (["UPDATE ledger_entries SET losses = '[1,1,1]' WHERE sequence = 6"], "Entry 6 was changed"),
        (["UPDATE ledger_entries SET remaining = '[1,1,1]' WHERE sequence = 12"], "Entry 12 was changed"),
        (["UPDATE ledger_entries SET used = 0 WHERE sequence = 12"], "Entry 12 was changed"),
        (["UPDATE ledger_entries SET corpus = 'c' WHERE sequence = 7"], "Entry 7 was changed"),
        (["UPDATE ledger_entries SET details = '{}' WHERE sequence = 2"], "Entry 2 cannot stand"),
        (["UPDATE ledger_entries SET losses = 'x' WHERE sequence = 6"], "Entry 6 holds amounts"),
        (["UPDATE ledger_entries SET time = 'soon' WHERE sequence = 6"], "Entry 6 holds a time"),
        (["UPDATE ledger_entries SET kind = 'refund' WHERE sequence = 6"], "unknown kind"),
        (["DELETE FROM ledger_entries WHERE sequence = 6"], "Entry 6 is missing"),
        (["DELETE FROM ledger_entries WHERE sequence IN (6, 7)"], "Entries 6 to 7 are missing"),
        (["DELETE FROM ledger_entries WHERE sequence = 1"], "Entry 1 is missing"),
        (
            [
                "UPDATE ledger_entries SET sequence = -1 WHERE sequence = 6",
                "UPDATE ledger_entries SET sequence = 6 WHERE sequence = 8",
                "UPDATE ledger_entries SET sequence = 8 WHERE sequence = -1",
            ],
            "Entry 6 does not follow",
        ),
        (
            [
                "DELETE FROM ledger_entries WHERE sequence = 6",
                "UPDATE ledger_entries SET sequence = sequence - 1 WHERE sequence > 6",
            ],
            "Entry 6 does not follow",
        ),
        (["DELETE FROM ledger_entries WHERE sequence >= 10"], "ends at entry 9, and entry 12 was released"),
        (["DELETE FROM ledger_entries WHERE sequence >= 12"], "ends at entry 11, and entry 12 was released"),
        (["DELETE FROM ledger_entries"], "database is empty"),
        (["DROP TABLE ledger_entries"], "tables are gone"),
    ],
)
def test_every_kind_of_tampering_is_named(sqlite_settings: Settings, statements: list[str], sign: str):
    found = tamper(sqlite_settings, *statements)
    assert not found.ok
    assert any(sign in sentence for sentence in found.breaks), found.breaks


@pytest.mark.parametrize(
    ("statement", "sign"),
    [
        ("UPDATE ledger_entries SET losses = '[0,0,0]' WHERE sequence = 6", "another remainder"),
        ("UPDATE ledger_entries SET losses = '[-5,0,0]' WHERE sequence = 6", "less than nothing"),
        ("UPDATE ledger_entries SET used = 1 WHERE sequence = 6", "counts 1 queries where 2"),
        ("UPDATE ledger_entries SET time = 5 WHERE sequence = 6", "dated before"),
        ("UPDATE ledger_entries SET kind = 'debit' WHERE sequence = 12", "does not allow"),
        ("UPDATE ledger_entries SET kind = 'stop' WHERE sequence = 11", "has stopped"),
        ("UPDATE ledger_entries SET remaining = '[9,9,9]' WHERE sequence = 2", "not its terms'"),
        ("UPDATE ledger_entries SET kind = 'adopt' WHERE sequence = 6", "carries amounts"),
    ],
)
def test_a_chain_sealed_anew_is_caught_by_the_replay_and_by_the_mark(
    sqlite_settings: Settings, statement: str, sign: str
):
    tamper(sqlite_settings)

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(statement)

    reseal(sqlite_settings, change)
    with open_store(sqlite_settings, check=False) as store:
        found = store.ledger.verify()
    assert not any("match its digest" in sentence for sentence in found.breaks), "the forger was careful"
    assert any(sign in sentence for sentence in found.breaks), found.breaks
    assert any("is not the one that was released" in sentence for sentence in found.breaks)


def test_a_consistent_forgery_of_the_whole_chain_is_caught_by_the_mark_alone(sqlite_settings: Settings):
    tamper(sqlite_settings)
    reseal(sqlite_settings, _drop_last_debit_of_a)
    with open_store(sqlite_settings, check=False) as store:
        found = store.ledger.verify()
    assert len(found.breaks) == 1
    assert "released" in found.breaks[0]


def _drop_last_debit_of_a(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM ledger_entries WHERE sequence = 10")
    connection.execute("UPDATE ledger_entries SET sequence = 10 WHERE sequence = 11")
    connection.execute("UPDATE ledger_entries SET sequence = 11 WHERE sequence = 12")


def test_a_damaged_file_is_a_result_and_not_a_crash(sqlite_settings: Settings):
    with open_store(sqlite_settings) as store:
        open_ward(store)
        for _ in range(200):
            store.ledger.debit("ward", [0.001] * 3)
    path: Path = sqlite_settings.data_dir / "studio.db"
    size = path.stat().st_size
    store = open_store(sqlite_settings, check=False)
    store.close()
    with path.open("r+b") as stream:
        stream.seek(size // 2)
        stream.write(b"\xff" * (size - size // 2))
    with store:
        found = store.ledger.verify()
    assert not found.ok
    assert "damaged" in " ".join(found.breaks)


def test_a_damaged_mark_is_named(sqlite_settings: Settings):
    tamper(sqlite_settings)
    (sqlite_settings.data_dir / "ledger.mark").write_bytes(b"?")
    with open_store(sqlite_settings, check=False) as store:
        found = store.ledger.verify()
    assert len(found.breaks) == 1
    assert "mark is damaged" in found.breaks[0]
