"""One corpus' protocol and its ledger, kept in step: nothing is drawn before its debit is committed."""

import threading
from dataclasses import dataclass

from core.errors import BudgetRefused, InputError, LedgerUnavailable, StaleBudget
from core.predict.decoding import Decoded
from core.predict.protocol import Protocol, Step
from core.predict.terms import has_terms
from core.privacy.sampling import sample
from core.store import Budget, Ledger

_ATTEMPTS = 50


@dataclass(frozen=True)
class Drawn:
    """One drawn token and its account, for the curator. `step` is None where the public model answered."""

    token: int
    step: Step | None
    used: int
    problem: str = ""

    @property
    def public(self) -> bool:
        """Whether no part had a say."""
        return self.step is None or not self.step.private


class Account:
    """Answers queries on one corpus under its budget. Shared by all sessions of a process.

    The parts' weights are chosen from the ledger's newest state and the debit names that state, so two
    replicas that answer at the same moment cannot both spend the same remainder: the later one sees that
    its state is stale and chooses again. A refusal for lack of budget therefore never happens to Strict,
    whose parts fade out one by one, and no refusal can tell which part is exhausted.
    """

    def __init__(self, corpus: str, protocol: Protocol, ledger: Ledger) -> None:
        self.corpus = corpus
        self._protocol = protocol
        self._ledger = ledger
        self._turn = threading.Lock()

    def budget(self) -> Budget:
        """The corpus' budget as the ledger has it."""
        budget = self._ledger.budget(self.corpus)
        if budget is None:
            raise InputError(f"No privacy budget was opened for '{self.corpus}'.")
        return budget

    def draw(self, decoded: Decoded, *, session: str = "") -> Drawn:
        """Choose weights, commit the debit, then draw. Without a ledger the public model answers."""
        with self._turn:
            try:
                return self._draw(decoded, session)
            except (LedgerUnavailable, BudgetRefused) as error:
                return Drawn(decoded.token(sample(decoded.public)), None, 0, problem=str(error))

    def _draw(self, decoded: Decoded, session: str) -> Drawn:
        for _ in range(_ATTEMPTS):
            budget = self.budget()
            if budget.stopped or budget.used >= budget.queries:
                return Drawn(decoded.token(sample(decoded.public)), None, budget.used)
            if not has_terms(self._protocol, budget):
                raise BudgetRefused(
                    f"The budget of '{self.corpus}' was started over with other terms; "
                    "the rest of this answer comes from the public model."
                )
            protocol = self._protocol.copy()
            protocol.restore(budget.remaining, budget.used, budget.stopped)
            step = protocol.answer(decoded.query(protocol.shape))
            charge = self._ledger.stop if protocol.stopped else self._ledger.debit
            try:
                receipt = charge(self.corpus, step.losses, session=session, used=budget.used)
            except StaleBudget:
                continue
            return Drawn(decoded.token(sample(step.pmf)), step, receipt.used)
        raise StaleBudget("Too many answers are drawn at once; the public model gave this one.")
