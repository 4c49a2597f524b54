"""The hash chain: what a link holds, how it is encoded, and how its SHA-256 is taken."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

GENESIS = "genesis"
OPEN = "open"
DEBIT = "debit"
STOP = "stop"
ADOPT = "adopt"

FIRST = 1
NOTHING = "0" * 64  # the "previous digest" of the first link
_FORMAT = "submix-ledger-1"


class Malformed(ValueError):
    """A stored row that no version of this program wrote."""


@dataclass(frozen=True)
class Link:
    """One entry of the ledger as it is hashed: money in units, time in microseconds."""

    sequence: int
    previous: str
    kind: str
    corpus: str = ""
    budget: str = ""  # the digest of the entry that opened the budget; empty on that entry itself
    losses: tuple[int, ...] = ()
    remaining: tuple[int, ...] = ()
    used: int = 0
    time: int = 0
    session: str = ""
    details: str = ""
    digest: str = ""

    def computed(self) -> str:
        """SHA-256 over a canonical JSON array of every field but the digest itself."""
        fields = [
            _FORMAT,
            self.sequence,
            self.previous,
            self.kind,
            self.corpus,
            self.budget,
            self.losses,
            self.remaining,
            self.used,
            self.time,
            self.session,
            self.details,
        ]
        encoded = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(encoded.encode("ascii")).hexdigest()

    def sealed(self) -> "Link":
        """The same link with its digest."""
        return replace(self, digest=self.computed())

    @property
    def intact(self) -> bool:
        """Whether the digest is the digest of the content."""
        return self.digest == self.computed()

    def row(self) -> dict[str, Any]:
        """The link as column values."""
        return {**vars(self), "losses": pack(self.losses), "remaining": pack(self.remaining)}


def pack(numbers: Sequence[int]) -> str:
    """Whole numbers as JSON text."""
    return json.dumps(list(numbers), separators=(",", ":"))


def _unpack(text: object) -> tuple[int, ...]:
    try:
        numbers = json.loads(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed("amounts that are not JSON") from error
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise Malformed("amounts that are not whole numbers")
    return tuple(numbers)


def from_row(row: Any) -> Link:
    """The link in a database row; `Malformed` if its columns are not of the types that were written."""
    for name in ("sequence", "used", "time"):
        if type(getattr(row, name)) is not int:
            raise Malformed(f"a {name} that is not a whole number")
    for name in ("previous", "digest", "kind", "corpus", "budget", "session", "details"):
        if type(getattr(row, name)) is not str:
            raise Malformed(f"a {name} that is not text")
    return Link(
        sequence=row.sequence,
        previous=row.previous,
        kind=row.kind,
        corpus=row.corpus,
        budget=row.budget,
        losses=_unpack(row.losses),
        remaining=_unpack(row.remaining),
        used=row.used,
        time=row.time,
        session=row.session,
        details=row.details,
        digest=row.digest,
    )


def follow(head: Link, link: Link, *, now: int) -> Link:
    """`link` placed after `head` and sealed. A clock that was set back never makes time run backwards."""
    placed = replace(link, sequence=head.sequence + 1, previous=head.digest, time=max(now, head.time))
    return placed.sealed()


def genesis(chain: str, *, now: int) -> Link:
    """The first link; a random chain name makes every ledger's digests its own."""
    details = json.dumps({"chain": chain}, sort_keys=True)
    return Link(sequence=FIRST, previous=NOTHING, kind=GENESIS, time=now, details=details).sealed()
