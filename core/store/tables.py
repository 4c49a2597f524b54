"""The typed tables: one append-only ledger, and the session log's sessions and events."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Index, Integer, MetaData, String, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CORPUS_LENGTH = 200
SESSION_LENGTH = 64
WORD_LENGTH = 64

# SQLite makes a column the row id itself, and counts it up, only if its type is INTEGER.
Identifier = BigInteger().with_variant(Integer, "sqlite")


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, exactly; a moment without a zone is in UTC."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The inverse of `to_micros`."""
    return EPOCH + timedelta(microseconds=micros)


class Instant(TypeDecorator[datetime]):
    """A moment in UTC as whole microseconds: the same on every database, and the same when hashed."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Store microseconds."""
        return None if value is None else to_micros(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Return an aware datetime."""
        return None if value is None else from_micros(value)


class Base(DeclarativeBase):
    """The metadata that the migrations are compared with."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        }
    )


class LedgerEntry(Base):
    """One link of the chain. Triggers made by the migration refuse every UPDATE and DELETE."""

    __tablename__ = "ledger_entries"
    __table_args__ = (Index(None, "corpus", "sequence"),)

    sequence: Mapped[int] = mapped_column(Identifier, primary_key=True, autoincrement=False)
    # Unique: of two writers that extend the same entry, at most one can commit, even without a lock.
    previous: Mapped[str] = mapped_column(String(64), unique=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    corpus: Mapped[str] = mapped_column(String(CORPUS_LENGTH))
    budget: Mapped[str] = mapped_column(String(64))
    losses: Mapped[str] = mapped_column(Text)
    remaining: Mapped[str] = mapped_column(Text)
    used: Mapped[int] = mapped_column(BigInteger)
    time: Mapped[int] = mapped_column(BigInteger)
    session: Mapped[str] = mapped_column(String(SESSION_LENGTH))
    details: Mapped[str] = mapped_column(Text)


class LoggedSession(Base):
    """One visitor's session, as the log knows it."""

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(String(SESSION_LENGTH), primary_key=True)
    started: Mapped[datetime] = mapped_column(Instant)
    last_seen: Mapped[datetime] = mapped_column(Instant, index=True)
    agent: Mapped[str] = mapped_column(String(WORD_LENGTH))
    role: Mapped[str] = mapped_column(String(WORD_LENGTH))


class LoggedEvent(Base):
    """One thing that was done: what, when, how long, at what cost, and how it ended."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    session: Mapped[str] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), index=True)
    panel: Mapped[str] = mapped_column(String(WORD_LENGTH))
    action: Mapped[str] = mapped_column(String(CORPUS_LENGTH))
    started: Mapped[datetime] = mapped_column(Instant, index=True)
    duration_ms: Mapped[float | None] = mapped_column(Double)
    cost: Mapped[float | None] = mapped_column(Double)
    outcome: Mapped[str] = mapped_column(String(WORD_LENGTH))
    corpus: Mapped[str] = mapped_column(String(CORPUS_LENGTH))
    text_hash: Mapped[str | None] = mapped_column(String(64))
    text_length: Mapped[int | None] = mapped_column(BigInteger)
    text: Mapped[str | None] = mapped_column(Text)


LEDGER = Base.metadata.tables[LedgerEntry.__tablename__]
SESSIONS = Base.metadata.tables[LoggedSession.__tablename__]
EVENTS = Base.metadata.tables[LoggedEvent.__tablename__]
