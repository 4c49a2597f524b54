"""Opening the store: one database, one ledger, one session log."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine

from core.errors import LedgerUnavailable
from core.settings import Settings
from core.store.chain import FIRST
from core.store.database import BUSY_SECONDS, Database, plainly
from core.store.key import load_key
from core.store.ledger import Ledger
from core.store.log import SessionLog
from core.store.mark import ADOPT_HINT, MarkFile, locked
from core.store.migrate import migrate

MARK_NAME = "ledger.mark"
KEY_NAME = "key"


@dataclass(frozen=True)
class Store:
    """Ledger and session log over one engine; close it, or use it in a `with`."""

    ledger: Ledger
    log: SessionLog
    engine: Engine

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(settings: Settings, *, check: bool = True, busy_seconds: float = BUSY_SECONDS) -> Store:
    """Make the data folder, bring the database to the newest schema and open it.

    Raises `LedgerUnavailable` with one sentence for whatever stands in the way, a database that the
    high-water mark does not know included. With `check` off such a database opens, so that it can be
    verified, shown or adopted, and its log read; its ledger still refuses every debit.
    """
    database = Database(settings.url, busy_seconds=busy_seconds)
    try:
        with plainly("The data folder or the database cannot be opened"):
            settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            marks = MarkFile(settings.data_dir / MARK_NAME, wait_seconds=busy_seconds)
            with _alone(settings.data_dir, busy_seconds):
                if check:
                    _refuse_to_replace(database, marks)
                migrate(database)
                ledger = Ledger(database, marks)
                ledger.begin(check=check)
                log = SessionLog(database, load_key(settings.data_dir / KEY_NAME), log_text=settings.log_text)
    except BaseException:
        database.close()
        raise
    return Store(ledger, log, database.engine)


@contextmanager
def _alone(folder: Path, wait_seconds: float) -> Iterator[None]:
    """One opener at a time, so that first entry, mark, key and WAL mode are made once."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with locked(descriptor, fcntl.LOCK_EX, wait_seconds):
            yield
    finally:
        os.close(descriptor)


def _refuse_to_replace(database: Database, marks: MarkFile) -> None:
    """Where the database file is gone, say so before an empty one is made in its place."""
    mark = marks.read()
    if database.path and mark and mark.sequence > FIRST and not database.path.exists():
        raise LedgerUnavailable(
            f"The database {database.path} is gone, but entry {mark.sequence} of its ledger "
            f"was already released. {ADOPT_HINT}"
        )
