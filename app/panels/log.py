"""Log: what was done, what it cost, and a ledger that anyone may verify."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import gradio as gr

from app.components.markup import notice, table
from app.identity import Curators
from core.errors import StudioError
from core.store import Budget, Event, EventFilter, ExportFormat, SessionSummary, Store, Verification, export
from core.studio import Studio

ANY = "any"
_PERIODS = {"the last hour": 1, "the last day": 24, "the last week": 168, "all time": 0}
_ROWS = 200
_CLICK_DOWNLOAD = "() => document.querySelector('#log-download').click()"


def build(studio: Studio, curators: Curators, token: gr.BrowserState, tab: gr.Tab) -> None:
    """The panel. Visitors see their own session; the curator sees all."""
    gr.HTML(
        '<p class="lead">What this server remembers: every action with its time, cost and outcome, and the '
        "ledger of privacy budgets. You see your own session; the curator sees all of them.</p>"
    )
    with gr.Row():
        period = gr.Dropdown(list(_PERIODS), value="the last day", label="From", scale=1)
        panel = gr.Dropdown([ANY, "predict", "corpora", "sanitize", "log"], value=ANY, label="Panel", scale=1)
        outcome = gr.Dropdown([ANY, "done", "stopped", "refused"], value=ANY, label="Outcome", scale=1)
        action = gr.Textbox(label="Action contains", max_lines=1, scale=1)
    with gr.Row():
        refresh = gr.Button("Refresh", variant="primary", min_width=120)
        csv = gr.Button("Export CSV", min_width=120)
        jsonl = gr.Button("Export JSONL", min_width=120)
        # A download button fetches what it held before the click, so a hidden one is filled, then clicked.
        download = gr.DownloadButton("Download", visible="hidden", elem_id="log-download")
    events = gr.HTML(elem_id="log-events")
    sessions = gr.HTML(elem_id="log-sessions")
    gr.HTML("<h2>Ledger</h2>")
    ledger = gr.HTML(elem_id="log-ledger")
    verify = gr.Button("Verify the ledger", min_width=180, size="md")
    verdict = gr.HTML(elem_id="log-verdict")

    filters = [token, period, panel, outcome, action]

    def wanted(
        token: str, period: str, panel: str, outcome: str, action: str, request: gr.Request
    ) -> EventFilter:
        """What is asked for, cut to the asker's own session unless the curator asks."""
        hours = _PERIODS.get(period, 0)
        return EventFilter(
            since=datetime.now(UTC) - timedelta(hours=hours) if hours else None,
            panel=None if panel == ANY else panel,
            outcome=None if outcome == ANY else outcome,
            action=(action or "").strip() or None,
            session=None if curators.knows(token) else _session(request),
        )

    def show(
        token: str, period: str, panel: str, outcome: str, action: str, request: gr.Request
    ) -> tuple[str, str, str]:
        if studio.store is None:
            return notice(studio.store_problem, kind="problem"), "", ""
        curator = curators.knows(token)
        try:
            query = wanted(token, period, panel, outcome, action, request)
            found = studio.store.log.events(limit=_ROWS, **query)
            everyone = sessions_table(studio.store.log.sessions(limit=50)) if curator else ""
            return events_table(found, curator), everyone, ledger_table(_budgets(studio.store), curator)
        except StudioError as error:
            return notice(str(error), kind="problem"), "", ""

    def write_csv(
        token: str, period: str, panel: str, outcome: str, action: str, request: gr.Request
    ) -> Iterator[str]:
        query = wanted(token, period, panel, outcome, action, request)
        yield from _write("csv", studio, query, curators.knows(token))

    def write_jsonl(
        token: str, period: str, panel: str, outcome: str, action: str, request: gr.Request
    ) -> Iterator[str]:
        query = wanted(token, period, panel, outcome, action, request)
        yield from _write("jsonl", studio, query, curators.knows(token))

    def check(token: str, request: gr.Request) -> str:
        started = time.perf_counter()
        if studio.store is None:
            return notice(studio.store_problem, kind="problem")
        try:
            verification = studio.store.ledger.verify()
        except StudioError as error:
            return notice(str(error), kind="problem")
        studio.note(
            session=_session(request),
            panel="log",
            action="verify",
            outcome="done",
            duration_ms=(time.perf_counter() - started) * 1000,
        )
        return verification_html(verification, curators.knows(token))

    gr.on(
        [
            tab.select,
            refresh.click,
            period.change,
            panel.change,
            outcome.change,
            action.submit,
            token.change,
        ],
        show,
        filters,
        [events, sessions, ledger],
        trigger_mode="always_last",  # a filter changed while a look is under way is looked at next
        api_visibility="private",
        show_progress="hidden",
    )
    for button, write in ((csv, write_csv), (jsonl, write_jsonl)):
        written = button.click(write, filters, download, api_visibility="private")
        written.success(fn=None, js=_CLICK_DOWNLOAD)
    verify.click(check, [token], verdict, api_visibility="private")


def _session(request: gr.Request) -> str:
    return request.session_hash or "none"


def _write(form: ExportFormat, studio: Studio, query: EventFilter, curator: bool) -> Iterator[str]:
    """The export as a file for the browser to fetch. Gradio copies it when it is yielded; ours is deleted."""
    if studio.store is None:
        raise gr.Error(studio.store_problem, print_exception=False)
    with tempfile.TemporaryDirectory(prefix="studio-log-") as folder:
        path = Path(folder) / f"session-log.{form}"
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                events = studio.store.log.stream(**query)
                file.writelines(export(events if curator else _without_costs(events), form))
        except StudioError as error:
            raise gr.Error(str(error), print_exception=False) from error
        yield str(path)


def _without_costs(events: Iterator[Event]) -> Iterator[Event]:
    """A cost is a function of private text: it leaves to the curator alone."""
    for event in events:
        yield replace(event, cost=None)


def _budgets(store: Store) -> list[Budget]:
    found = (store.ledger.budget(corpus) for corpus in store.ledger.corpora())
    return [budget for budget in found if budget is not None]


def events_table(events: list[Event], curator: bool) -> str:
    """The events, newest first; costs are functions of private data, so only the curator sees them."""
    if not events:
        return notice("Nothing here yet. Generate something on Predict, then come back.")
    rows = [
        [
            f"{event.started:%Y-%m-%d %H:%M:%S}",
            event.panel,
            event.action,
            event.outcome,
            f"{event.duration_ms:,.0f}" if event.duration_ms is not None else "",
            "" if event.cost is None else f"{event.cost:.4f}" if curator else "hidden",
            _text(event),
            event.session[:8],
        ]
        for event in events
    ]
    heads = ["when (UTC)", "panel", "action", "outcome", "ms", "cost", "text", "session"]
    whose = "of all sessions" if curator else "of your session"
    return table(f"Events {whose}, newest first", heads, rows, numbers=(4, 5))


def _text(event: Event) -> str:
    if event.text is not None:
        return event.text if len(event.text) <= 60 else event.text[:59] + "…"
    if event.text_hash is None:
        return ""
    return f"{event.text_length} characters, {event.text_hash[:10]}"


def sessions_table(sessions: list[SessionSummary]) -> str:
    """All sessions, for the curator."""
    rows = [
        [item.id[:8], f"{item.started:%Y-%m-%d %H:%M}", f"{item.last_seen:%Y-%m-%d %H:%M}", str(item.events)]
        for item in sessions
    ]
    return table("Sessions, last seen first", ["session", "first seen", "last seen", "events"], rows, (3,))


def ledger_table(budgets: list[Budget], curator: bool) -> str:
    """Nominal terms and the public count for everyone; what is left only where that may be seen."""
    if not budgets:
        return notice("No privacy budget has been opened yet; the public model spends nothing.")
    rows = [
        [
            budget.corpus,
            budget.protocol,
            str(budget.parts),
            f"{budget.epsilon:g}",
            f"{budget.alpha:g}",
            f"{budget.used:,} of {budget.queries:,}",
            f"{min(budget.remaining):.4f}" if curator or budget.synthetic else "hidden",
        ]
        for budget in budgets
    ]
    heads = ["corpus", "protocol", "parts", "epsilon", "alpha", "queries used", "left, weakest part"]
    return table("Privacy budgets", heads, rows, numbers=(2, 3, 4, 5, 6))


def verification_html(verification: Verification, curator: bool) -> str:
    """The outcome of a replay in a sentence, and every break for the curator."""
    if verification.ok:
        return notice(
            f"The ledger is whole: {_count(verification.entries)} replayed, every hash and remainder agrees.",
            kind="done",
        )
    lines: Sequence[str] = verification.breaks if curator else verification.breaks[:1]
    return "".join(notice(line, kind="problem") for line in lines)


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries:,} entries"
