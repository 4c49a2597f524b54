"""What a corpus is: documents that belong to users, and what was left out on the way in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

NO_USER = "(no user id)"  # all rows without a user id are this one user
EXAMPLES_KEPT = 10  # places remembered for each reason; the count goes on


@dataclass(frozen=True, slots=True)
class Document:
    """One text of one user; `source` is the file and `row` the place in it, counted from 1."""

    user: str
    text: str
    source: str
    row: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows or files that were left out for one reason: how many, and where the first of them are."""

    reason: str
    count: int
    places: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """Documents by user. `notes` are the choices made while reading, each one sentence."""

    name: str
    documents: tuple[Document, ...]
    synthetic: bool = False
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def by_user(self) -> Mapping[str, tuple[Document, ...]]:
        """The documents of each user, users in the order in which they first appear."""
        grouped: dict[str, list[Document]] = {}
        for document in self.documents:
            grouped.setdefault(document.user, []).append(document)
        return MappingProxyType({user: tuple(documents) for user, documents in grouped.items()})

    @property
    def users(self) -> tuple[str, ...]:
        """The user ids, in the order in which they first appear."""
        return tuple(self.by_user)

    @property
    def characters(self) -> int:
        """The length of all texts together."""
        return sum(len(document.text) for document in self.documents)


@dataclass
class DropLog:
    """Collects what is dropped, by reason, in bounded memory."""

    _counts: dict[str, int] = field(default_factory=dict)
    _places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, place: str) -> None:
        """Count one more row or file that is left out for `reason`."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        places = self._places.setdefault(reason, [])
        if len(places) < EXAMPLES_KEPT:
            places.append(place)

    def extend(self, dropped: Iterable[Dropped]) -> None:
        """Take over what another reader dropped."""
        for entry in dropped:
            self._counts[entry.reason] = self._counts.get(entry.reason, 0) + entry.count
            places = self._places.setdefault(entry.reason, [])
            places.extend(entry.places[: EXAMPLES_KEPT - len(places)])

    def entries(self) -> tuple[Dropped, ...]:
        """All reasons, the most frequent first."""
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Dropped(reason, count, tuple(self._places[reason])) for reason, count in ordered)
