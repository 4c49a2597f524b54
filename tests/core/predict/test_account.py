"""The generation loop's account: nothing is drawn before its debit is committed, by whichever session."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.predict import Decoded, StrictSubMix, SubMix
from core.predict import account as account_module
from core.predict.account import Account
from core.privacy.sampling import sample
from core.settings import Settings
from core.store import Ledger, open_store

K, V = 4, 12
CORPUS = "ward"


@contextmanager
def ledger(
    protocol: str = "strict", *, epsilon: float = 1.0, queries: int = 50, busy_seconds: float = 5.0
) -> Iterator[Ledger]:
    """A ledger in a folder of its own, with a budget open."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(_env_file=None, data_dir=Path(folder))
        with open_store(settings, busy_seconds=busy_seconds) as store:
            store.ledger.open_budget(
                CORPUS,
                parts=K,
                epsilon=epsilon,
                alpha=2.0,
                queries=queries,
                protocol=protocol,
                synthetic=False,
            )
            yield store.ledger


def decoded(seed: int = 0, rows: int = K) -> Decoded:
    """Models that disagree with each other and with the public one."""
    return Decoded(np.random.default_rng(seed).dirichlet(np.full(V, 0.3), rows + 1) * 0.98 + 0.02 / V)


def strict(epsilon: float = 1.0, queries: int = 50) -> StrictSubMix:
    return StrictSubMix(K, epsilon, 2.0, queries)


def test_the_debit_is_in_the_ledger_before_the_token_is_drawn() -> None:
    with ledger() as book, pytest.MonkeyPatch.context() as patch:
        seen = []
        draw = sample

        def watched(pmf):
            budget = book.budget(CORPUS)
            seen.append((budget.used, min(budget.remaining)))
            return draw(pmf)

        patch.setattr(account_module, "sample", watched)
        Account(CORPUS, strict(), book).draw(decoded())
        assert seen[0][0] == 1
        assert seen[0][1] < 1.0


def test_all_sessions_spend_one_budget() -> None:
    with ledger() as book:
        for session in ("ann", "bob", "cy"):
            Account(CORPUS, strict(), book).draw(decoded(), session=session)
        budget = book.budget(CORPUS)
        spent = [
            sum(entry.losses[part] for entry in book.entries(CORPUS) if entry.losses) for part in range(K)
        ]
        assert budget.used == 3
        assert budget.remaining == pytest.approx([1.0 - loss for loss in spent], abs=1e-9)


def test_a_restarted_server_goes_on_where_the_old_one_was() -> None:
    with ledger() as book:
        first = Account(CORPUS, strict(), book)
        before = [first.draw(decoded(step)).step.remaining for step in range(5)][-1]
        after = Account(CORPUS, strict(), book).draw(decoded(5)).step
        assert np.all(after.remaining <= before)
        assert after.remaining == pytest.approx(before - after.losses, abs=1e-9)


def test_what_is_charged_is_what_the_ledger_has() -> None:
    with ledger() as book:
        drawn = Account(CORPUS, strict(), book).draw(decoded())
        assert book.budget(CORPUS).remaining == pytest.approx(drawn.step.remaining, abs=1e-12)


def test_a_ledger_that_cannot_be_written_means_the_public_model_answers() -> None:
    with ledger(busy_seconds=0.2) as book:
        with book._database.writing(ledger=True) as holder:  # somebody else holds the lock
            assert holder is not None
            public = Decoded(np.vstack([np.eye(V)[0], np.tile(np.eye(V)[5], (K, 1))]) * 0.999 + 0.001 / V)
            drawn = Account(CORPUS, strict(), book).draw(public)
        assert drawn.step is None
        assert drawn.public
        assert drawn.problem
        assert book.budget(CORPUS).used == 0


def test_after_the_planned_queries_the_public_model_answers_at_no_charge() -> None:
    with ledger(queries=3) as book:
        account = Account(CORPUS, strict(queries=3), book)
        drawn = [account.draw(decoded(step)) for step in range(5)]
        assert [item.step is None for item in drawn] == [False, False, False, True, True]
        assert book.budget(CORPUS).used == 3


def test_submix_stops_for_good_and_for_every_session() -> None:
    with ledger("submix", epsilon=0.05, queries=4) as book:
        account = Account(CORPUS, SubMix(K, 0.05, 2.0, 4), book)
        # Each part's two halves agree, so its weight is 1, and the parts disagree: the losses are large.
        parts = np.repeat(np.eye(V)[:K], 2, axis=0) * 0.9 + 0.1 / V
        rows = Decoded(np.vstack([np.full(V, 1.0 / V), parts]))
        first = account.draw(rows)
        assert first.public
        assert book.budget(CORPUS).stopped
        assert Account(CORPUS, SubMix(K, 0.05, 2.0, 4), book).draw(rows).step is None


def test_many_sessions_at_once_never_overspend_and_never_see_a_refusal() -> None:
    with ledger(epsilon=0.2, queries=40) as book:
        accounts = [Account(CORPUS, strict(0.2, 40), book) for _ in range(6)]  # six replicas, no shared lock
        drawn, threads = [], []
        for number, account in enumerate(accounts):

            def work(account=account, number=number):
                drawn.extend(account.draw(decoded(number * 100 + step)) for step in range(10))

            threads.append(threading.Thread(target=work))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        budget = book.budget(CORPUS)
        assert budget.used == 40
        assert min(budget.remaining) >= 0.0
        assert sum(item.step is not None for item in drawn) == 40
        assert not any(item.problem for item in drawn)
        assert book.verify().ok


def test_a_corpus_without_a_budget_is_a_sentence() -> None:
    with ledger() as book, pytest.raises(InputError, match="No privacy budget"):
        Account("another", strict(), book).draw(decoded())
