"""Mistakes in the generation loop, each with the test that must notice it."""

import pytest

from core.predict import account
from core.predict.account import Account, Drawn
from core.privacy.sampling import sample
from tests.core.predict.mutants import Mutant, survives

HERE = "tests.core.predict.test_account"


def debit_after_release(patch: pytest.MonkeyPatch) -> None:
    def late(self, decoded, session):
        protocol = self._protocol.copy()
        budget = self.budget()
        protocol.restore(budget.remaining, budget.used, budget.stopped)
        step = protocol.answer(decoded.query(protocol.shape))
        drawn = Drawn(decoded.token(vars(account)["sample"](step.pmf)), step, budget.used + 1)
        self._ledger.debit(self.corpus, step.losses, session=session)
        return drawn

    patch.setattr(Account, "_draw", late)


def budget_per_session(patch: pytest.MonkeyPatch) -> None:
    def own(self, decoded, session):
        step = self._protocol.answer(decoded.query(self._protocol.shape))
        return Drawn(decoded.token(sample(step.pmf)), step, self._protocol.used)

    patch.setattr(Account, "_draw", own)


def stale_state_is_charged(patch: pytest.MonkeyPatch) -> None:
    """Losses chosen from an old state are charged to a newer one, and refused if they no longer fit."""
    patch.setattr("core.store.budget.refuse_if_stale", lambda newest, used: None)
    kept = {}
    fresh = Account.budget
    patch.setattr(Account, "budget", lambda self: kept.setdefault(self.corpus, fresh(self)))


MUTANTS = [
    Mutant("debit after release", debit_after_release,
           f"{HERE}:test_the_debit_is_in_the_ledger_before_the_token_is_drawn"),
    Mutant("budget per session", budget_per_session, f"{HERE}:test_all_sessions_spend_one_budget"),
    Mutant("stale state is charged", stale_state_is_charged,
           f"{HERE}:test_a_restarted_server_goes_on_where_the_old_one_was"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_of_the_loop_is_caught(mutant: Mutant):
    assert not survives(mutant)
