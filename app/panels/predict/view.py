"""One corpus as one reader may see it: exact where nobody in it exists or the curator asks, else nominal."""

from dataclasses import dataclass

from app.components.meter import Reading
from app.noting import Noted
from core.catalogue import Entry
from core.errors import LedgerUnavailable
from core.predict import PROTOCOLS
from core.predict.terms import planned_terms, quoted
from core.privacy.meaning import Meaning, spend_means
from core.store import Budget, Terms
from core.studio import FORGETFUL, Studio


@dataclass(frozen=True)
class View:
    """What may be shown of a corpus. `state` is its budget, or the terms that it will be opened with."""

    entry: Entry
    state: Budget | Terms
    exact: bool
    reading: Reading
    problem: str = ""

    @property
    def synthetic(self) -> bool:
        """Declared so by the ensemble and by the budget in the ledger; one of them is not enough."""
        return self.entry.synthetic and self.state.synthetic

    @property
    def even_pace(self) -> float:
        """What a token costs if all planned queries cost the same."""
        return self.state.epsilon / self.state.queries

    def quote(self, tokens: int) -> float:
        """The most that any part can pay for so many tokens, from public facts."""
        return quoted(self.state, tokens)

    def meaning(self, candidates: int) -> tuple[Meaning, Meaning | None]:
        """The whole budget in other words, and what was paid so far where that may be seen."""
        whole = spend_means(self.state.alpha, self.state.epsilon, candidates=candidates)
        if not self.exact:
            return whole, None
        paid = max(self.reading.epsilon - self.reading.weakest, 0.0)
        return whole, spend_means(self.state.alpha, paid, candidates=candidates)


def noted(studio: Studio, session: str, action: str, view: View | None, text: str | None = None) -> Noted:
    """A line of the session log for what the block does on a corpus, or with the public model alone."""
    corpus, synthetic = (view.entry.corpus, view.synthetic) if view else ("", False)
    return Noted(studio, session, "predict", action, text=text, corpus=corpus, synthetic=synthetic)


def see(studio: Studio, name: str, *, curator: bool) -> View:
    """Look at a corpus with the eyes of the curator or of a visitor."""
    entry = studio.entry(name)
    problem = "" if entry.synthetic or studio.settings.durable else FORGETFUL
    state: Budget | Terms | None = None
    try:
        if studio.store is not None:
            state = studio.store.ledger.budget(entry.corpus)
        else:
            problem = problem or f"{studio.store_problem} Only the public model answers."
    except LedgerUnavailable as error:
        problem = problem or f"{error} Only the public model answers."
    state = state or planned_terms(entry.manifest)
    exact = curator or (entry.synthetic and state.synthetic)
    return View(entry, state, exact, _reading(studio, entry, state, exact), problem)


def _reading(studio: Studio, entry: Entry, state: Budget | Terms, exact: bool) -> Reading:
    remaining: tuple[float, ...] = (state.epsilon,) * state.parts
    history: tuple[tuple[int, float], ...] = ((0, state.epsilon),)
    used, stopped = 0, False
    if isinstance(state, Budget):
        remaining, used, stopped = state.remaining, state.used, state.stopped
        if exact and studio.store is not None:
            history = studio.store.ledger.burn_down(entry.corpus) or history
    kind = PROTOCOLS.get(state.protocol)
    return Reading(
        epsilon=state.epsilon,
        alpha=state.alpha,
        queries=state.queries,
        used=used,
        remaining=remaining if exact else (),
        history=history if exact else (),
        halves=bool(entry.manifest.partition.get("halves")) and state.parts != entry.manifest.partition["k"],
        stopped=stopped or state.protocol == "public",
        protected=kind is not None and kind.protected,
    )
