"""The database under ledger and log: one engine, careful connections, short transactions, plain errors."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from core.errors import LedgerUnavailable, StudioError

BUSY_SECONDS = 5.0
_LEDGER_LOCK = 0x5375624D69784C67  # "SubMixLg", the name of PostgreSQL's advisory lock
_LIBPQ = {"psycopg", "psycopg2"}

# What SQLite and PostgreSQL say, and what it means to the person who reads it.
_REASONS = {
    "locked": f"another program kept it locked for {BUSY_SECONDS:.0f} seconds",
    "lock timeout": f"another program kept it locked for {BUSY_SECONDS:.0f} seconds",
    "readonly": "it is read-only",
    "read-only": "it is read-only",
    "is full": "the disk is full",
    "no space left": "the disk is full",
    "disk i/o error": "the disk did not take the write",
    "malformed": "its file is damaged",
    "not a database": "its file is damaged",
    "unable to open": "its file cannot be opened",
    "no such table": "its tables are gone",
}


class Database:
    """An engine, and the one turn that this process' writers take, so that they queue and do not poll."""

    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.busy_seconds = busy_seconds
        self.url = _parsed(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._turn = threading.Lock()
        self.engine = _engine(self.url, busy_seconds)
        # The same pool; the option tells the begin hook to take SQLite's write lock at once.
        self._writer = self.engine.execution_options(immediate=True)

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database."""
        database = self.url.database or ""
        return Path(database.removeprefix("file:").partition("?")[0]) if self.sqlite else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads and waits for nobody."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, ledger: bool = False) -> Iterator[Connection]:
        """A transaction that writes; commits at the end. With `ledger`, no other ledger writer is inside."""
        if not self._turn.acquire(timeout=self.busy_seconds):
            raise TimeoutError(f"another program kept it locked for {self.busy_seconds:.0f} seconds")
        try:
            with self._writer.begin() as connection:
                if ledger and self.url.get_backend_name() == "postgresql":
                    # The lock comes before the first read: READ COMMITTED then sees every earlier commit.
                    connection.execute(text("SELECT pg_advisory_xact_lock(:name)"), {"name": _LEDGER_LOCK})
                yield connection
        finally:
            self._turn.release()

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        # The URL is not repeated: it may hold a password.
        raise LedgerUnavailable(
            "The database URL cannot be read; it should look like postgresql+psycopg://user@host/name "
            "or sqlite:////path/studio.db."
        ) from error
    memory = parsed.database in (None, "", ":memory:") or parsed.query.get("mode") == "memory"
    if parsed.get_backend_name() == "sqlite" and memory:
        raise LedgerUnavailable("A ledger in memory would forget every debit; the database must be a file.")
    return parsed


def _engine(url: URL, busy_seconds: float) -> Engine:
    sqlite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {"pool_timeout": busy_seconds}
    try:
        driver = url.get_driver_name()
        if sqlite:
            options["connect_args"] = {"timeout": busy_seconds}
        else:
            options |= {"pool_pre_ping": True, "isolation_level": "READ COMMITTED"}
            if driver in _LIBPQ:
                wait = max(2, round(busy_seconds))
                options["connect_args"] = {"connect_timeout": wait, "tcp_user_timeout": wait * 1000}
        engine = create_engine(url, **options)
    except (SQLAlchemyError, ImportError, TypeError) as error:
        raise LedgerUnavailable(
            f"There is no driver here for a database of type '{url.drivername}'."
        ) from error
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    elif engine.dialect.name == "postgresql":

        def prepare(connection: Any, record: ConnectionPoolEntry) -> None:
            with connection.cursor() as cursor:
                # A server tuned to acknowledge early would let a token leave before its debit is durable.
                cursor.execute("SET synchronous_commit = on")
                cursor.execute(f"SET lock_timeout = {round(busy_seconds * 1000)}")
            connection.commit()

        event.listen(engine, "connect", prepare)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where _begin_sqlite says, and nowhere else
    # Asked before told: changing the mode takes an exclusive lock, knowing it takes none.
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    record.info["file"] = (path, _identity(path))


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
    path, identity = connection.connection.info["file"]
    # An open connection goes on writing to a deleted file; what it commits is gone at the next start.
    if _identity(path) != identity:
        raise FileNotFoundError(
            "its file was deleted or replaced while it was in use; start again to reopen it"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def reason(error: BaseException) -> str:
    """Why the database did not do it, in words."""
    original = getattr(error, "orig", None) or error
    message = str(original).strip().splitlines()[0] if str(original).strip() else type(original).__name__
    lowered = message.lower()
    return next((words for sign, words in _REASONS.items() if sign in lowered), message.rstrip("."))


@contextmanager
def plainly(what: str, kind: type[StudioError] = LedgerUnavailable) -> Iterator[None]:
    """Turn whatever the database or the file system raises into one sentence of one type."""
    try:
        yield
    except StudioError:
        raise
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise kind(f"{what}: {reason(error)}.") from error
