"""Who goes where: a user's part and half are keyed hashes of the user id and of nothing else.

A user's place depends neither on any text nor on who else is in the corpus. So in the world without
one user, or without one part, everybody else stays where they are, and when the corpus grows and is
trained again each user's spend can be carried forward. The price is that parts differ in size by
chance; the balance is reported, not repaired.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from core.corpus.documents import Corpus, Document
from core.errors import InputError

MAX_PARTS = 4096
KEY_BYTES = 32


@dataclass(frozen=True)
class PartSize:
    """How much lies in one part, or in one half of it."""

    part: int
    half: int | None
    users: int
    documents: int
    characters: int


@dataclass(frozen=True)
class Partition:
    """A corpus in k parts, each in two halves where `halves` is set. Parts and halves count from 0."""

    corpus: Corpus
    k: int
    halves: bool
    key: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Names the key without giving it away: the same fingerprint means the same places."""
        return hmac.digest(self.key, b"fingerprint", hashlib.sha256)[:8].hex()

    def part_of(self, user: str) -> int:
        """The part of a user id, whether it is in the corpus or not."""
        return _keyed(self.key, b"part", user) % self.k

    def half_of(self, user: str) -> int:
        """The half, 0 or 1, of a user's part; independent of the part."""
        return _keyed(self.key, b"half", user) % 2

    def documents(self, part: int, half: int | None = None) -> tuple[Document, ...]:
        """The documents of a part, or of one half of it, in the order of the corpus."""
        if not 0 <= part < self.k or half not in (None, 0, 1) or (half is not None and not self.halves):
            raise InputError(f"There is no part {part}{'' if half is None else f', half {half}'} here.")
        return self._places.get((part, half), ())

    @cached_property
    def _places(self) -> dict[tuple[int, int | None], tuple[Document, ...]]:
        """Documents by (part, None) and, where there are halves, by (part, half)."""
        places: dict[tuple[int, int | None], list[Document]] = {}
        parts = {user: self.part_of(user) for user in self.corpus.users}
        halves = {user: self.half_of(user) for user in parts} if self.halves else {}
        for document in self.corpus.documents:
            part = parts[document.user]
            places.setdefault((part, None), []).append(document)
            if self.halves:
                places.setdefault((part, halves[document.user]), []).append(document)
        return {place: tuple(documents) for place, documents in places.items()}

    @cached_property
    def sizes(self) -> tuple[PartSize, ...]:
        """The size of every part, or of every half where there are halves."""
        sizes = []
        for part in range(self.k):
            for half in (0, 1) if self.halves else (None,):
                held = self.documents(part, half)
                users = len({document.user for document in held})
                sizes.append(PartSize(part, half, users, len(held), sum(len(d.text) for d in held)))
        return tuple(sizes)


def new_key() -> bytes:
    """A fresh secret key for a corpus; whoever knows it can tell in which part a user lies."""
    return secrets.token_bytes(KEY_BYTES)


def partition_corpus(corpus: Corpus, k: int, *, key: bytes, halves: bool = False) -> Partition:
    """Split a corpus by user into k parts; InputError when that cannot be done with people in every place."""
    if len(key) < 16:
        raise InputError("The partition key must have at least 16 bytes.")
    if k == 1:
        raise InputError(
            "One part gives no protection: with nobody else to hide among, choose 2 parts or more."
        )
    if not 2 <= k <= MAX_PARTS:
        raise InputError(f"The number of parts must lie between 2 and {MAX_PARTS:,}, not {k:,}.")
    if len(corpus.users) < 2:
        raise InputError(
            f"{corpus.name} has one user only, and one user lives in one part; name the column that tells "
            "users apart, or declare that each document is from a different user."
        )
    draws = [(_keyed(key, b"part", user), _keyed(key, b"half", user) % 2) for user in corpus.users]
    if not _fills(draws, k, halves):
        raise InputError(_too_many(corpus, draws, k, halves))
    return Partition(corpus, k, halves, key)


def largest_k(corpus: Corpus, *, key: bytes, halves: bool = False, below: int = MAX_PARTS + 1) -> int | None:
    """The largest number of parts under `below` that leaves no part, or half, empty; None if none does."""
    draws = [(_keyed(key, b"part", user), _keyed(key, b"half", user) % 2) for user in corpus.users]
    return _largest(draws, halves, below)


def _largest(draws: list[tuple[int, int]], halves: bool, below: int) -> int | None:
    most = len(draws) // 2 if halves else len(draws)
    return next((k for k in range(min(below - 1, most, MAX_PARTS), 1, -1) if _fills(draws, k, halves)), None)


def _keyed(key: bytes, purpose: bytes, user: str) -> int:
    """HMAC-SHA256 of purpose and user id as a number; 256 bits, so its remainder by k is uniform."""
    return int.from_bytes(hmac.digest(key, purpose + b"\0" + user.encode(), hashlib.sha256), "big")


def _fills(draws: Iterable[tuple[int, int]], k: int, halves: bool) -> bool:
    """Whether every part, or every half of every part, has somebody in it."""
    places = {(draw % k, half if halves else 0) for draw, half in draws}
    return len(places) == (2 * k if halves else k)


def _too_many(corpus: Corpus, draws: list[tuple[int, int]], k: int, halves: bool) -> str:
    """The refusal, with the largest number of parts that works."""
    place = "half of a part" if halves else "part"
    best = _largest(draws, halves, k)
    advice = f"{best} is the largest smaller number that works" if best else "no smaller number works either"
    return (
        f"{k} parts would leave a {place} of {corpus.name} with nobody in it ({len(draws)} users); {advice}."
    )
