"""What must be remembered: the privacy ledger, which cannot lie, and the session log."""

from core.store.budget import Budget, Receipt, Terms
from core.store.database import BUSY_SECONDS
from core.store.export import ExportFormat, export
from core.store.ledger import Ledger
from core.store.log import Event, EventFilter, LogUnavailable, SessionLog, SessionSummary
from core.store.rows import Entry
from core.store.store import Store, open_store
from core.store.verify import Verification

__all__ = [
    "BUSY_SECONDS",
    "Budget",
    "Entry",
    "Event",
    "EventFilter",
    "ExportFormat",
    "Ledger",
    "LogUnavailable",
    "Receipt",
    "SessionLog",
    "SessionSummary",
    "Store",
    "Terms",
    "Verification",
    "export",
    "open_store",
]
