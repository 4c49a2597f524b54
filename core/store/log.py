"""The session log: what was done, when, how long it took, what it cost and how it ended.

The log serves the curator and is not needed for an answer: every failure is a `LogUnavailable`, and a
caller that is about to answer someone should catch it and answer. (The ledger is the opposite: without
it nothing private is released.) Costs are functions of private data: show them to the curator only.
"""

import hashlib
import hmac
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, Unpack

from sqlalchemy import BigInteger, Connection, Select, delete, func, insert, select, type_coerce, update
from sqlalchemy.exc import IntegrityError

from core.errors import StudioError
from core.store.clean import clean
from core.store.database import Database, plainly
from core.store.tables import CORPUS_LENGTH, EVENTS, SESSION_LENGTH, SESSIONS, WORD_LENGTH, to_micros

_PURGE_BATCH = 1000  # rows a transaction, so that a long purge never keeps a debit waiting
_NOT_WRITTEN = "The session log cannot be written"
_NOT_READ = "The session log cannot be read"


class LogUnavailable(StudioError):
    """The session log cannot be read or written; answers need not wait for it."""

    code = "log-unavailable"


@dataclass(frozen=True)
class Event:
    """One logged event."""

    id: int
    session: str
    panel: str
    action: str
    started: datetime
    duration_ms: float | None
    cost: float | None
    outcome: str
    corpus: str
    text_hash: str | None
    text_length: int | None
    text: str | None


@dataclass(frozen=True)
class SessionSummary:
    """One session and how many events it has."""

    id: str
    started: datetime
    last_seen: datetime
    agent: str
    role: str
    events: int


class EventFilter(TypedDict, total=False):
    """Which events to show or export; `action` matches any part of the action, `until` is exclusive."""

    session: str | None
    session_begins: str | None
    panel: str | None
    outcome: str | None
    corpus: str | None
    action: str | None
    since: datetime | None
    until: datetime | None


EVENT_FIELDS = tuple(field.name for field in fields(Event))


class SessionLog:
    """Sessions and their events. Text is kept as keyed hash and length, in clear only where allowed."""

    def __init__(self, database: Database, key: bytes, *, log_text: bool) -> None:
        self._database = database
        self._key = key
        self._log_text = log_text

    def record(
        self,
        *,
        session: str,
        panel: str,
        action: str,
        outcome: str = "ok",
        started: datetime | None = None,
        duration_ms: float | None = None,
        cost: float | None = None,
        corpus: str = "",
        synthetic: bool = False,
        text: str | None = None,
        agent: str = "",
        role: str = "",
    ) -> int:
        """Write one event and return its id. `text` is kept in clear only if `synthetic` or opted in."""
        now = datetime.now(UTC)
        visitor = {
            "id": clean(session, SESSION_LENGTH),
            "agent": clean(agent, WORD_LENGTH),
            "role": clean(role, WORD_LENGTH),
        }
        event = {
            "session": visitor["id"],
            "panel": clean(panel, WORD_LENGTH),
            "action": clean(action, CORPUS_LENGTH),
            "started": started or now,
            "duration_ms": _finite(duration_ms),
            "cost": _finite(cost),
            "outcome": clean(outcome, WORD_LENGTH),
            "corpus": clean(corpus, CORPUS_LENGTH),
            "text_hash": None if text is None else self.hash(text),
            "text_length": None if text is None else len(text),
            "text": clean(text) if text is not None and (synthetic or self._log_text) else None,
        }
        with plainly(_NOT_WRITTEN, LogUnavailable):
            try:
                return self._write(visitor, event, now)
            except IntegrityError:  # another process wrote this session's first event at the same moment
                return self._write(visitor, event, now)

    def hash(self, text: str) -> str:
        """HMAC-SHA256 of the text under this installation's key; equal texts are seen to be equal."""
        return hmac.new(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def events(self, *, limit: int = 100, **wanted: Unpack[EventFilter]) -> list[Event]:
        """The newest events first."""
        with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
            return [Event(**row._mapping) for row in connection.execute(_query(wanted).limit(limit))]

    def stream(self, **wanted: Unpack[EventFilter]) -> Iterator[Event]:
        """All matching events, newest first, without holding them in memory."""
        # Paged by id: a reader who pauses half-way holds no transaction open.
        last: tuple[datetime, int] | None = None
        while True:
            query = _query(wanted).limit(500)
            if last is not None:
                started, number = last
                earlier = (EVENTS.c.started == started) & (EVENTS.c.id < number)
                query = query.where((EVENTS.c.started < started) | earlier)
            with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
                page = [Event(**row._mapping) for row in connection.execute(query)]
            yield from page
            if len(page) < 500:
                return
            last = page[-1].started, page[-1].id

    def count(self, **wanted: Unpack[EventFilter]) -> int:
        """How many events match."""
        query = select(func.count()).select_from(_query(wanted).order_by(None).subquery())
        with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
            return connection.execute(query).scalar_one()

    def first(self, **wanted: Unpack[EventFilter]) -> datetime | None:
        """When the first of the matching events began."""
        found = _query(wanted).order_by(None).subquery()
        with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
            return connection.execute(select(func.min(found.c.started))).scalar_one()

    def counts(self, bins: int, **wanted: Unpack[EventFilter]) -> dict[str, list[int]]:
        """How many events each panel had in each of `bins` equal stretches from `since` to `until`."""
        since, until = wanted["since"], wanted["until"]
        if since is None or until is None:
            raise ValueError("a timeline needs a beginning and an end")
        width = max(1, -(-(to_micros(until) - to_micros(since)) // bins))
        found = _query(wanted).order_by(None).subquery()
        place = (type_coerce(found.c.started, BigInteger) - to_micros(since)) // width
        query = select(found.c.panel, place.label("place"), func.count()).group_by(found.c.panel, "place")
        counted: dict[str, list[int]] = {}
        with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
            for panel, at, number in connection.execute(query):
                counted.setdefault(panel, [0] * bins)[int(at)] += number
        return counted

    def sessions(self, *, limit: int = 100) -> list[SessionSummary]:
        """The sessions seen last first."""
        count = select(func.count()).where(EVENTS.c.session == SESSIONS.c.id).scalar_subquery()
        query = select(SESSIONS, count.label("events")).order_by(SESSIONS.c.last_seen.desc()).limit(limit)
        with plainly(_NOT_READ, LogUnavailable), self._database.reading() as connection:
            return [SessionSummary(**row._mapping) for row in connection.execute(query)]

    def purge(self, older_than: timedelta | datetime) -> int:
        """Delete events that started before then, and sessions left empty; the ledger is not touched."""
        limit = older_than if isinstance(older_than, datetime) else datetime.now(UTC) - older_than
        old = select(EVENTS.c.id).where(EVENTS.c.started < limit).limit(_PURGE_BATCH)
        deleted = 0
        with plainly(_NOT_WRITTEN, LogUnavailable):
            while True:
                with self._database.writing() as connection:
                    numbers = list(connection.scalars(old))
                    connection.execute(delete(EVENTS).where(EVENTS.c.id.in_(numbers)))
                deleted += len(numbers)
                if len(numbers) < _PURGE_BATCH:
                    break
            with self._database.writing() as connection:
                busy = select(EVENTS.c.id).where(EVENTS.c.session == SESSIONS.c.id).exists()
                connection.execute(delete(SESSIONS).where(SESSIONS.c.last_seen < limit, ~busy))
        return deleted

    def forget(self, session: str) -> int:
        """Delete one session and all its events; returns how many. The ledger keeps its bare name."""
        name = clean(session, SESSION_LENGTH)
        with plainly(_NOT_WRITTEN, LogUnavailable), self._database.writing() as connection:
            deleted = connection.execute(delete(EVENTS).where(EVENTS.c.session == name)).rowcount
            connection.execute(delete(SESSIONS).where(SESSIONS.c.id == name))
        return deleted

    def _write(self, visitor: dict[str, str], event: dict[str, Any], now: datetime) -> int:
        with self._database.writing() as connection:
            _see(connection, visitor, now)
            return connection.execute(insert(EVENTS).returning(EVENTS.c.id), event).scalar_one()


def _finite(number: float | None) -> float | None:
    """JSON and some databases know no NaN and no infinity."""
    return number if number is not None and math.isfinite(number) else None


def _see(connection: Connection, visitor: dict[str, str], now: datetime) -> None:
    """Note that the session was seen; what is known of it is kept, what is new is added."""
    known = {name: value for name, value in visitor.items() if value and name != "id"}
    query = update(SESSIONS).where(SESSIONS.c.id == visitor["id"]).values(last_seen=now, **known)
    if connection.execute(query).rowcount == 0:
        connection.execute(insert(SESSIONS), {**visitor, "started": now, "last_seen": now})


def _query(wanted: EventFilter) -> Select[Any]:
    query = select(EVENTS).order_by(EVENTS.c.started.desc(), EVENTS.c.id.desc())
    for name in ("session", "panel", "outcome", "corpus"):
        value = wanted.get(name)
        if value is not None:
            query = query.where(EVENTS.c[name] == clean(str(value)))
    action, since, until = wanted.get("action"), wanted.get("since"), wanted.get("until")
    begins = wanted.get("session_begins")
    if begins:
        query = query.where(EVENTS.c.session.startswith(clean(begins), autoescape=True))
    if action:
        query = query.where(EVENTS.c.action.icontains(clean(action), autoescape=True))
    if since is not None:
        query = query.where(EVENTS.c.started >= since)
    if until is not None:
        query = query.where(EVENTS.c.started < until)
    return query
