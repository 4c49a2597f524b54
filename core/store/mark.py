"""The high-water mark: a small file outside the database that remembers how far the ledger had come.

A database that is restored from an old copy has forgotten debits whose tokens have left. The mark
remembers the newest entry that was released, so the old copy is seen for what it is.

The mark is written after the commit and before the token leaves, so it is never ahead of the database:
it is a lower bound, and needs no fsync. Losing a write of it to a power cut costs vigilance for one
entry and nothing else. The file holds two slots, each with its own checksum, and the older one is
overwritten in place: a torn write leaves the other slot, which is again a lower bound. In place also
means that a full disk does not stop it. If neither slot can be read, nothing is known and the ledger
stays shut until a curator adopts the database: a damaged mark is never taken for a missing one.
"""

import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import LedgerUnavailable
from core.store.chain import FIRST, Link

_SLOT = 4096  # a page each, so that no single torn page or sector can take both
_RECORD = 256
_NAME = "submix-mark-1"
ADOPT_HINT = (
    "Put the right database back, or accept this one with `python -m core ledger adopt`; "
    "until then answers come from the public model."
)


@dataclass(frozen=True)
class Mark:
    """The newest released entry: its chain (the digest of the first entry), sequence and digest."""

    chain: str
    sequence: int
    digest: str


def mark_of(chain: str, link: Link) -> Mark:
    """The mark that stands at `link`."""
    return Mark(chain, link.sequence, link.digest)


def disagreement(
    mark: Mark | None, head: Link | None, digest_at: Callable[[int], str | None], *, required: bool
) -> str | None:
    """Why a database that ends at `head` cannot be the one that the mark stands for, or None.

    Usually the mark stands at the head, and nothing more is read. A mark at the first entry binds
    nothing: nothing had been released. A missing mark is suspect only where it is `required`, that is
    beside a database file, which moves about without it; a database server may get a new neighbour.
    """
    if mark is None and required and head is not None and head.sequence > FIRST:
        return "The ledger has entries, but its high-water mark is missing: this may be an old copy."
    if mark is None or mark.sequence <= FIRST:
        return None
    if head is None:
        return f"The database is empty, but entry {mark.sequence} of its ledger was already released."
    if head.sequence < mark.sequence:
        return (
            "The database is older than what this server already released: "
            f"it ends at entry {head.sequence}, and entry {mark.sequence} was released."
        )
    digest = head.digest if head.sequence == mark.sequence else digest_at(mark.sequence)
    if digest != mark.digest:
        return (
            f"The database is not the one that this server wrote: its entry {mark.sequence} "
            "is not the one that was released."
        )
    return None


class MarkFile:
    """The file `ledger.mark`; safe to use from several threads and processes."""

    def __init__(self, path: Path, *, wait_seconds: float) -> None:
        self.path = path
        self._wait = wait_seconds

    def read(self) -> Mark | None:
        """The mark; None if there never was one; `LedgerUnavailable` if it is damaged.

        Read the mark first and the database after it: others only move both forward.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            with locked(descriptor, fcntl.LOCK_SH, self._wait):
                return self._newest(descriptor)
        finally:
            os.close(descriptor)

    def advance(self, mark: Mark) -> None:
        """Move the mark forward to `mark`; never back. Creates the file where there is none."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            self.replace(mark)
            return
        try:
            with locked(descriptor, fcntl.LOCK_EX, self._wait):
                slots = _slots(descriptor)
                newest = self._newest(descriptor)
                if newest.chain != mark.chain and newest.sequence > FIRST:
                    raise LedgerUnavailable(f"The high-water mark belongs to another ledger. {ADOPT_HINT}")
                if newest.sequence == mark.sequence and newest.digest != mark.digest:
                    raise LedgerUnavailable(f"The ledger has forked at entry {mark.sequence}. {ADOPT_HINT}")
                if newest.sequence >= mark.sequence:
                    return
                older = 0 if slots[0] is None or slots[0] != newest else 1
                os.pwrite(descriptor, _encoded(mark), older * _SLOT)
        finally:
            os.close(descriptor)

    def replace(self, mark: Mark) -> None:
        """Put `mark` in place whatever was there; rare, so durable and atomic."""
        content = bytearray(2 * _SLOT)
        for slot in (0, 1):
            content[slot * _SLOT : slot * _SLOT + _RECORD] = _encoded(mark)
        write_atomically(self.path, bytes(content))

    def _newest(self, descriptor: int) -> Mark:
        known = [mark for mark in _slots(descriptor) if mark is not None]
        if not known:
            raise LedgerUnavailable(
                f"The ledger's high-water mark is damaged, so the database cannot be trusted. {ADOPT_HINT}"
            )
        return max(known, key=lambda mark: mark.sequence)


def write_atomically(path: Path, content: bytes, *, keep_existing: bool = False) -> None:
    """Write a file of mode 0600 that appears whole or not at all, and survives a power cut.

    With `keep_existing` the first of several writers wins, and the others' content is dropped.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if not keep_existing:
            temporary.replace(path)
        else:
            try:
                path.hardlink_to(temporary)
            except FileExistsError:
                return
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def locked(descriptor: int, operation: int, wait_seconds: float) -> Iterator[None]:
    """Hold flock on an open file; a holder that hangs becomes a TimeoutError, not our own hang."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another program kept it locked for {wait_seconds:.0f} seconds") from None
            time.sleep(0.0005)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode("ascii")).hexdigest()[:32]


def _encoded(mark: Mark) -> bytes:
    body = f"{_NAME} {mark.chain} {mark.sequence:020d} {mark.digest}"
    return f"{body} {_checksum(body)}\n".ljust(_RECORD).encode("ascii")


def _slots(descriptor: int) -> tuple[Mark | None, Mark | None]:
    return _decoded(os.pread(descriptor, _RECORD, 0)), _decoded(os.pread(descriptor, _RECORD, _SLOT))


def _decoded(record: bytes) -> Mark | None:
    try:
        body, _, checksum = record.decode("ascii").rstrip().rpartition(" ")
        name, chain, sequence, digest = body.split(" ")
        if name == _NAME and len(record) == _RECORD and checksum == _checksum(body):
            return Mark(chain, int(sequence), digest)
    except ValueError:
        pass
    return None
