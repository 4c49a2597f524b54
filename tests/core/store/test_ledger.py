import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from core.errors import BudgetRefused, InputError, LedgerUnavailable
from core.settings import Settings
from core.store import Store, open_store
from core.store.chain import Link, follow
from core.store.rows import head_of
from core.store.tables import LEDGER
from core.store.units import UNITS_PER_NAT, round_up
from tests.core.store.budgets import open_ward, ward


def test_a_budget_is_what_it_was_opened_with(store: Store):
    before = datetime.now(UTC)
    budget = open_ward(store)
    assert budget == ward(store)
    assert budget.remaining == (2.0, 2.0, 2.0)
    assert (budget.used, budget.stopped, budget.synthetic, budget.alpha) == (0, False, False, 2.0)
    assert before <= budget.opened <= datetime.now(UTC)
    assert store.ledger.corpora() == ["ward"]
    assert store.ledger.budget("other") is None


def test_a_debit_charges_every_part_and_gives_a_receipt(store: Store):
    open_ward(store)
    receipt = store.ledger.debit("ward", [0.5, 0.25, 0.0], session="s1")
    assert receipt.remaining == (1.5, 1.75, 2.0)
    assert (receipt.used, receipt.sequence, receipt.corpus) == (1, 3, "ward")
    newest = store.ledger.entries("ward")[0]
    assert (newest.digest, newest.losses, newest.session) == (receipt.digest, (0.5, 0.25, 0.0), "s1")
    assert ward(store).remaining == receipt.remaining


def test_a_refused_debit_charges_no_part(store: Store):
    open_ward(store)
    store.ledger.debit("ward", [1.9, 0.1, 0.1])
    before = ward(store)
    with pytest.raises(BudgetRefused) as refusal:
        store.ledger.debit("ward", [0.2, 0.0, 0.0])
    assert ward(store) == before
    # Neither the part nor an amount: both are functions of private data.
    assert not any(character.isdigit() for character in str(refusal.value))


def test_what_is_left_can_be_spent_to_the_last_unit_and_no_further(store: Store):
    open_ward(store, epsilon=0.1 + 0.2, parts=2)
    store.ledger.debit("ward", [1 / 3 / 10, 1e-13])
    receipt = store.ledger.debit("ward", ward(store).remaining)
    assert max(receipt.remaining) < 1e-15 * 3
    with pytest.raises(BudgetRefused):
        store.ledger.debit("ward", [1e-11, 1e-11])


def test_the_count_of_queries_is_a_limit_of_its_own(store: Store):
    open_ward(store, queries=2)
    for _ in range(2):
        store.ledger.debit("ward", [0, 0, 0])
    with pytest.raises(BudgetRefused, match="All 2 queries"):
        store.ledger.debit("ward", [0, 0, 0])
    assert ward(store).used == 2


def test_stop_is_sticky_and_takes_what_is_left(store: Store):
    open_ward(store)
    receipt = store.ledger.stop("ward", [5.0, 1.0, 0.0])
    assert receipt.remaining == (0.0, 1.0, 2.0)
    assert ward(store).stopped
    for charge in (store.ledger.debit, store.ledger.stop):
        with pytest.raises(BudgetRefused, match="stopped"):
            charge("ward", [0, 0, 0])
    assert ward(store).used == 1
    assert store.ledger.verify().ok


def test_a_private_corpus_never_gets_a_second_budget(store: Store):
    open_ward(store)
    store.ledger.stop("ward", [2, 2, 2])
    with pytest.raises(BudgetRefused, match="already has"):
        open_ward(store)
    with pytest.raises(BudgetRefused, match="already has"):
        open_ward(store, synthetic=True)
    with pytest.raises(BudgetRefused, match="private"):
        store.ledger.restart("ward")
    assert ward(store).stopped


def test_a_synthetic_corpus_can_start_over_and_stays_synthetic(store: Store):
    open_ward(store, synthetic=True)
    store.ledger.stop("ward", [2, 2, 2])
    budget = store.ledger.restart("ward", queries=7, epsilon=1)
    assert (budget.queries, budget.epsilon, budget.parts, budget.used) == (7, 1.0, 3, 0)
    assert budget.synthetic
    assert not budget.stopped
    with pytest.raises(BudgetRefused, match="already has"):
        open_ward(store, synthetic=False)
    store.ledger.debit("ward", [1, 1, 1])
    assert store.ledger.verify().ok
    with pytest.raises(InputError, match="No privacy budget"):
        store.ledger.restart("other")


def test_impossible_losses_are_refused_before_anything_is_touched(store: Store):
    open_ward(store)
    impossible: list[Any] = [[0.1] * 2, [0.1] * 4, [], [0.1, math.nan, 0.1], [0.1, -0.1, 0.1], "abc"]
    for losses in impossible:
        for charge in (store.ledger.debit, store.ledger.stop):
            with pytest.raises(InputError):
                charge("ward", losses)
    assert len(store.ledger.entries()) == 2


def test_an_impossible_budget_leaves_no_trace(store: Store):
    with pytest.raises(InputError):
        open_ward(store, parts=1)
    with pytest.raises(InputError):
        open_ward(store, "a\x00b")
    assert store.ledger.corpora() == []


def test_a_loss_beyond_every_budget_is_refused_or_stops(store: Store):
    open_ward(store)
    with pytest.raises(BudgetRefused):
        store.ledger.debit("ward", [1.7e308, 0, 0])
    assert store.ledger.stop("ward", [1.7e308, 0, 0]).remaining == (0.0, 2.0, 2.0)
    assert store.ledger.entries()[0].losses[0] == 1.7e308
    assert store.ledger.verify().ok


def test_a_debit_without_a_budget_is_refused(store: Store):
    with pytest.raises(InputError, match="No privacy budget"):
        store.ledger.debit("ward", [0.1])


def test_a_hostile_session_name_does_not_stop_a_debit(store: Store):
    open_ward(store)
    for session in ("\ud800", "a\x00b", "x" * 100_000, "\u202e", ""):
        store.ledger.debit("ward", [0, 0, 0], session=session)
    assert store.ledger.verify().ok


def test_corpora_do_not_share_their_budgets(store: Store):
    open_ward(store, "a")
    open_ward(store, "b", parts=2)
    store.ledger.debit("a", [1, 1, 1])
    store.ledger.debit("b", [0.5, 0.5])
    store.ledger.debit("a", [0.5, 0, 0])
    assert ward(store, "a").remaining == (0.5, 1.0, 1.0)
    assert ward(store, "b").remaining == (1.5, 1.5)
    assert [entry.sequence for entry in store.ledger.entries("a")] == [6, 4, 2]
    assert [entry.sequence for entry in store.ledger.entries(limit=2, before=6)] == [5, 4]
    assert store.ledger.verify().ok


def test_a_new_process_sees_the_same_budget(settings: Settings, store: Store):
    open_ward(store)
    store.ledger.debit("ward", [0.5, 0.5, 0.5])
    with open_store(settings) as other:
        assert ward(other) == ward(store)
        other.ledger.debit("ward", [0.5, 0.5, 0.5])
        store.ledger.debit("ward", [0.5, 0.5, 0.5])
        assert ward(other).remaining == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_entries SET used = 0",
        "DELETE FROM ledger_entries WHERE sequence = 3",
        "INSERT INTO ledger_entries SELECT sequence + 7, 'p', 'd', kind, corpus, budget, losses, remaining, "
        "used, time, session, details FROM ledger_entries WHERE sequence = 3",
    ],
)
def test_the_database_itself_refuses_changes(store: Store, statement: str):
    open_ward(store)
    store.ledger.debit("ward", [0.5, 0.5, 0.5])
    with pytest.raises(IntegrityError, match="only grows"), store.engine.begin() as connection:
        connection.execute(text(statement))
    assert store.ledger.verify().ok


def test_replacing_or_truncating_is_refused_too(store: Store):
    open_ward(store)
    sqlite = store.engine.dialect.name == "sqlite"
    statement = (
        "INSERT OR REPLACE INTO ledger_entries SELECT * FROM ledger_entries"
        if sqlite
        else "TRUNCATE ledger_entries"
    )
    with pytest.raises(SQLAlchemyError, match="only grows"), store.engine.begin() as connection:
        connection.execute(text(statement))
    assert store.ledger.verify().ok


def test_a_fork_cannot_be_committed_even_without_the_lock(store: Store):
    open_ward(store)
    with store.engine.begin() as connection:
        head = head_of(connection)
    assert head is not None
    twins = [follow(head, Link(0, "", "adopt", details=name), now=0) for name in "ab"]
    with store.engine.begin() as connection:
        connection.execute(insert(LEDGER), twins[0].row())
    for change in ({}, {"sequence": head.sequence + 2}):
        with pytest.raises(IntegrityError), store.engine.begin() as connection:
            connection.execute(insert(LEDGER), {**twins[1].row(), **change})


def test_a_changed_newest_entry_is_not_charged_against(store: Store):
    open_ward(store)
    with store.engine.begin() as connection:
        head = head_of(connection)
        assert head is not None
        forged = Link(
            head.sequence + 1, head.digest, "debit", corpus="ward", remaining=(1, 1, 1), digest="0" * 64
        )
        connection.execute(insert(LEDGER), forged.row())
    with pytest.raises(LedgerUnavailable, match="changed"):
        store.ledger.debit("ward", [0, 0, 0])


losses = st.lists(
    st.lists(st.floats(min_value=0, max_value=0.9), min_size=2, max_size=2), min_size=1, max_size=12
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    with open_store(Settings(data_dir=tmp_path_factory.mktemp("ledger"), database_url="")) as opened:
        yield opened


@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(epsilon=st.floats(min_value=0.01, max_value=3), wanted=losses)
def test_the_sum_of_accepted_losses_never_exceeds_epsilon(
    shared: Store, epsilon: float, wanted: list[list[float]]
):
    corpus = f"corpus {len(shared.ledger.corpora())}"
    open_ward(shared, corpus, parts=2, epsilon=epsilon)
    spent = [0, 0]
    for pair in wanted:
        try:
            shared.ledger.debit(corpus, pair)
        except BudgetRefused:
            asked = [have + round_up(more) for have, more in zip(spent, pair, strict=True)]
            assert max(asked) > epsilon * UNITS_PER_NAT - 1
        else:
            spent = [have + round_up(more) for have, more in zip(spent, pair, strict=True)]
    assert max(spent) <= epsilon * UNITS_PER_NAT
