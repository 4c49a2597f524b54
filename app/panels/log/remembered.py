"""What this page remembers of its visitor, and forgetting it."""

from app.components.markup import escape, notice
from core.store import Store


def remembered_html(store: Store, session: str, *, log_text: bool, days: int) -> str:
    """What is kept of one session, in sentences."""
    count = store.log.count(session=session)
    if not count:
        return '<p class="lead">Nothing yet: this page is remembered from its first action on.</p>'
    kept = (
        "Texts are kept in clear, because this server is set to do so."
        if log_text
        else "Texts are kept as a keyed hash and a length, in clear only those sent to a synthetic corpus."
    )
    events = "1 action" if count == 1 else f"{count:,} actions"
    return (
        f'<p class="lead">Session <code>{escape(session[:8])}</code>: {events}, each with its time, panel, '
        f"duration, outcome and cost. {kept} Everything is deleted after {days:,} days. A reload of the page "
        "begins a new session. The privacy ledger keeps the bare name of the session beside each debit: "
        "what was spent cannot be made undone.</p>"
    )


def forgotten_html(deleted: int) -> str:
    """What was deleted."""
    if not deleted:
        return notice("There was nothing to forget.")
    events = "1 action was" if deleted == 1 else f"{deleted:,} actions were"
    return notice(f"Forgotten: {events} deleted from the log.", kind="done")
