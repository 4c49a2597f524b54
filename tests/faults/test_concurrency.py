"""Many threads and processes against one budget: never more than it allows, and not less."""

from collections import Counter

import pytest

from core.settings import Settings
from core.store import open_store
from tests.faults.workers import debit_in_threads, open_corpus, processes


def race(
    settings: Settings, *, threads: int, debits: int, loss: float
) -> tuple[list[tuple[int, str]], Counter]:
    """Two processes with that many threads each; all receipts, and the refusals by type."""
    start = processes.Barrier(2)
    pipes, children = [], []
    for _ in range(2):
        mine, theirs = processes.Pipe(duplex=False)
        arguments = (settings, threads, debits, loss, start, theirs)
        child = processes.Process(target=debit_in_threads, args=arguments)
        child.start()
        theirs.close()
        pipes.append(mine)
        children.append(child)
    results = [pipe.recv() for pipe in pipes]
    for child in children:
        child.join()
    receipts = [receipt for released, _ in results for receipt in released]
    return receipts, Counter(kind for _, refused in results for kind in refused)


def check(settings: Settings, receipts: list[tuple[int, str]], expected: int) -> None:
    with open_store(settings) as store:
        budget = store.ledger.budget("ward")
        written = {(entry.sequence, entry.digest) for entry in store.ledger.entries("ward", limit=10_000)}
        assert budget is not None
        assert len(receipts) == len(set(receipts)) == budget.used == expected
        assert set(receipts) <= written
        found = store.ledger.verify()
        assert found.ok, found.breaks


def test_two_processes_of_32_threads_times_40_release_exactly_the_1000_that_are_allowed(
    any_settings: Settings,
):
    with open_store(any_settings) as store:
        open_corpus(store, queries=1000)
    receipts, refused = race(any_settings, threads=32, debits=40, loss=0.0)
    assert refused == {"BudgetRefused": 2 * 32 * 40 - 1000}
    check(any_settings, receipts, 1000)


@pytest.mark.slow
def test_two_processes_of_64_threads_each(any_settings: Settings):
    with open_store(any_settings) as store:
        open_corpus(store, queries=1000)
    receipts, refused = race(any_settings, threads=64, debits=40, loss=0.0)
    assert refused == {"BudgetRefused": 2 * 64 * 40 - 1000}
    check(any_settings, receipts, 1000)


def test_epsilon_is_a_limit_as_hard_as_the_count(any_settings: Settings):
    with open_store(any_settings) as store:
        open_corpus(store, epsilon=1.0, queries=10_000)
    receipts, refused = race(any_settings, threads=8, debits=20, loss=0.007)
    assert refused == {"BudgetRefused": 2 * 8 * 20 - 142}
    check(any_settings, receipts, 142)
