"""kill -9 in mid-write, again and again on the same ledger: what was released is written."""

import random
import signal
import sqlite3

import pytest

from core.settings import Settings
from core.store import open_store
from tests.faults.workers import die_at, kill_in_mid_write, open_corpus, processes


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_nothing_released_is_lost_and_nothing_is_corrupt(any_settings: Settings, kills: int):
    with open_store(any_settings) as store:
        open_corpus(store, epsilon=100.0, queries=10**6)
    if any_settings.database_url:
        kills = min(kills, 50)  # the server lives on, so only our own order of steps is at stake
    rng = random.Random(4711)
    released: set[tuple[int, str]] = set()
    for _ in range(kills):
        released.update(kill_in_mid_write(any_settings, rng))
        if not any_settings.database_url:
            connection = sqlite3.connect(any_settings.data_dir / "studio.db")
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
        with open_store(any_settings) as store:
            found = store.ledger.verify()
            assert found.ok, found.breaks
            budget = store.ledger.budget("ward")
            written = {(entry.sequence, entry.digest) for entry in store.ledger.entries(limit=10**6)}
        assert released <= written
        assert budget is not None
        # Each kill may leave one charge a thread that was written and never released; never the reverse.
        assert len(released) <= budget.used <= len(released) + 2 * kills


@pytest.mark.parametrize(("point", "charged"), [("before commit", 0), ("after commit", 1), ("after mark", 1)])
def test_a_death_between_any_two_steps_leaves_a_ledger_that_opens(
    any_settings: Settings, point: str, charged: int
):
    with open_store(any_settings) as store:
        open_corpus(store)
    mine, theirs = processes.Pipe(duplex=False)
    child = processes.Process(target=die_at, args=(any_settings, point, theirs))
    child.start()
    theirs.close()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    with pytest.raises(EOFError):
        mine.recv()
    with open_store(any_settings) as store:
        budget = store.ledger.budget("ward")
        assert budget is not None
        assert budget.used == charged
        assert store.ledger.verify().ok
        store.ledger.debit("ward", [1e-6] * 3)
