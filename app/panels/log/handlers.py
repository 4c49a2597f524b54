"""What the Log does on a click. Each handler finds out by itself who asks."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.identity import Curators
from app.noting import Noted, session_of
from app.panels.log.export import written
from app.panels.log.remembered import forgotten_html, remembered_html
from app.panels.log.tables import events_table, ledger_table, sessions_table, verification_html
from app.panels.log.timeline import BINS, timeline_svg
from core.errors import StudioError
from core.store import Budget, EventFilter, ExportFormat, Store
from core.studio import Studio

ANY = "any"
PERIODS = {"the last hour": 1, "the last day": 24, "the last week": 168, "all time": 0}
_ROWS = 200
_SHORTEST = timedelta(minutes=1)


class Handlers:
    """The handlers over one studio; a visitor gets the own session, the curator all."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self._studio, self._curators = studio, curators

    def show(
        self,
        token: str,
        period: str,
        panel: str,
        outcome: str,
        action: str,
        session: str,
        request: gr.Request,
    ) -> list[Any]:
        """Whether sessions can be chosen, the timeline, events, sessions, what is remembered, the budgets."""
        store, curator = self._studio.store, self._curators.knows(token)
        if store is None:
            return [gr.skip(), "", notice(self._studio.store_problem, kind="problem"), "", "", ""]
        try:
            query = self._wanted(token, period, panel, outcome, action, session, request)
            events = store.log.events(limit=_ROWS, **query)
            return [
                gr.update(visible=curator),
                _timeline(store, query),
                events_table(events, curator, filtered=_filtered(query)),
                sessions_table(store.log.sessions(limit=50)) if curator else "",
                self._remembered(store, request),
                ledger_table(_budgets(store), curator),
            ]
        except StudioError as error:
            return [gr.skip(), "", notice(str(error), kind="problem"), "", "", ""]

    def export(self, form: ExportFormat) -> Callable[..., Iterator[str]]:
        """A handler that writes the events that are asked for, as CSV or as JSON Lines."""

        def write(
            token: str,
            period: str,
            panel: str,
            outcome: str,
            action: str,
            session: str,
            request: gr.Request,
        ) -> Iterator[str]:
            query = self._wanted(token, period, panel, outcome, action, session, request)
            yield from written(form, self._studio, query, self._curators.knows(token))

        return write

    def verify(self, token: str, request: gr.Request) -> str:
        """Replay the ledger."""
        store = self._studio.store
        if store is None:
            return notice(self._studio.store_problem, kind="problem")
        try:
            with Noted(self._studio, session_of(request), "log", "verify"):
                return verification_html(store.ledger.verify(), self._curators.knows(token))
        except StudioError as error:
            return notice(str(error), kind="problem")

    def forget_me(self, request: gr.Request) -> str:
        """Delete what the log has of the asker's own session."""
        store = self._studio.store
        if store is None:
            return notice(self._studio.store_problem, kind="problem")
        try:
            return forgotten_html(store.log.forget(session_of(request)))
        except StudioError as error:
            return notice(str(error), kind="problem")

    def _wanted(
        self,
        token: str,
        period: str,
        panel: str,
        outcome: str,
        action: str,
        session: str,
        request: gr.Request,
    ) -> EventFilter:
        """What is asked for, cut to the asker's own session unless the curator asks."""
        hours = PERIODS.get(period, 0)
        wanted = EventFilter(
            since=datetime.now(UTC) - timedelta(hours=hours) if hours else None,
            panel=None if panel == ANY else panel,
            outcome=None if outcome == ANY else outcome,
            action=(action or "").strip() or None,
        )
        if self._curators.knows(token):
            wanted["session_begins"] = (session or "").strip() or None
        else:
            wanted["session"] = session_of(request)
        return wanted

    def _remembered(self, store: Store, request: gr.Request) -> str:
        settings = self._studio.settings
        return remembered_html(
            store, session_of(request), log_text=settings.log_text, days=settings.retention_days
        )


def _filtered(query: EventFilter) -> bool:
    """Whether more is asked for than a stretch of time of one's own session, or of all."""
    return any(query.get(name) for name in ("panel", "outcome", "action", "session_begins"))


def _timeline(store: Store, query: EventFilter) -> str:
    """From the first of the events that are asked for until now, a minute at least."""
    until = datetime.now(UTC)
    since = min(store.log.first(**query) or until, until - _SHORTEST)
    stretch: EventFilter = {**query, "since": since, "until": until}
    return timeline_svg(store.log.counts(BINS, **stretch), since, until)


def _budgets(store: Store) -> list[Budget]:
    found = (store.ledger.budget(corpus) for corpus in store.ledger.corpora())
    return [budget for budget in found if budget is not None]
