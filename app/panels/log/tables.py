"""The tables of the Log: events, sessions, budgets, and how a replay of the ledger ended."""

from collections.abc import Sequence

from app.components.markup import notice, table
from core.store import Budget, Event, SessionSummary, Verification


def events_table(events: list[Event], curator: bool, *, filtered: bool = False) -> str:
    """The events, newest first; costs are functions of private data, so only the curator sees them."""
    if not events and filtered:
        return notice("No event is like that. Choose a longer time, or fewer filters.")
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
    heads = [
        "corpus",
        "protocol",
        "parts or halves",
        "epsilon",
        "alpha",
        "queries used",
        "left, weakest part",
    ]
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
