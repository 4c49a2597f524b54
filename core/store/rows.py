"""Reading the ledger's rows: a link is believed only if its digest is the digest of its content."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from core.errors import LedgerUnavailable
from core.store.chain import Link, Malformed, from_row
from core.store.tables import LEDGER, from_micros
from core.store.units import to_nats

_HEAD = select(LEDGER).order_by(LEDGER.c.sequence.desc()).limit(1)


@dataclass(frozen=True)
class Entry:
    """One row of the ledger for display, in nats. Losses and remainders are for the curator."""

    sequence: int
    kind: str
    corpus: str
    time: datetime
    losses: tuple[float, ...]
    remaining: tuple[float, ...]
    used: int
    session: str
    digest: str


@contextmanager
def malformed_is_unavailable(sequence: int) -> Iterator[None]:
    """A row that nobody here wrote makes the ledger untrustworthy, which is one exception type."""
    try:
        yield
    except Malformed as error:
        raise LedgerUnavailable(f"Entry {sequence} of the ledger holds {error}.") from error


def read(row: Any) -> Link:
    """The link in a row, trusted only if its digest is its own."""
    with malformed_is_unavailable(row.sequence):
        link = from_row(row)
    if not link.intact:
        raise LedgerUnavailable(f"Entry {link.sequence} of the ledger was changed after it was written.")
    return link


def head_of(connection: Connection) -> Link | None:
    """The newest link of the whole chain."""
    row = connection.execute(_HEAD).first()
    return None if row is None else read(row)


def newest_of(connection: Connection, corpus: str) -> Link | None:
    """The newest link of a corpus, which is the state of its budget."""
    row = connection.execute(_HEAD.where(LEDGER.c.corpus == corpus)).first()
    return None if row is None else read(row)


def spread_between(connection: Connection, opened: Link, newest: Link, points: int) -> list[Link]:
    """At most `points` links of one budget, evenly spread from its opening to its newest.

    Each is found through the index, so that a budget of a million entries is as quick to draw as one of ten.
    """
    step = max(1, -(-(newest.sequence - opened.sequence) // max(points - 1, 1)))
    found = [opened]
    for sequence in range(opened.sequence + step, newest.sequence, step):
        after = select(LEDGER).where(LEDGER.c.corpus == opened.corpus, LEDGER.c.sequence >= sequence)
        row = connection.execute(after.order_by(LEDGER.c.sequence).limit(1)).first()
        if row is not None and found[-1].sequence < row.sequence < newest.sequence:
            found.append(read(row))
    return [*found, newest] if newest.sequence > opened.sequence else found


def digest_at(connection: Connection, sequence: int) -> str | None:
    """The digest of the entry with that sequence."""
    digest: str | None = connection.scalar(select(LEDGER.c.digest).where(LEDGER.c.sequence == sequence))
    return digest


def shown(link: Link) -> Entry:
    """A link for display."""
    return Entry(
        sequence=link.sequence,
        kind=link.kind,
        corpus=link.corpus,
        time=from_micros(link.time),
        losses=tuple(to_nats(amount) for amount in link.losses),
        remaining=tuple(to_nats(amount) for amount in link.remaining),
        used=link.used,
        session=link.session,
        digest=link.digest,
    )
