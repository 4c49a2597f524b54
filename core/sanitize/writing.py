"""Writing items in batches: one call of the mechanism for many rows, then counts, progress and cancel."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from core.errors import StudioError
from core.sanitize.document import Memory, Piece, perturb
from core.sanitize.file_report import Cancelled, FileProgress, Tally
from core.sanitize.items import Item
from core.sanitize.mechanism import Mechanism
from core.sanitize.policy import Policy
from core.sanitize.units import Unit, find_units
from core.sanitize.words import word_spans

_BATCH_CHARS, _BATCH_ITEMS = 256 * 1024, 2_000


@dataclass
class Writing:
    """One file on its way out."""

    mechanism: Mechanism
    policy: Policy
    rng: np.random.Generator
    tally: Tally
    consistent: bool
    total: int
    progress: Callable[[FileProgress], None] | None = None
    cancelled: Callable[[], bool] | None = None
    begun: float = field(default_factory=time.monotonic)
    finished: int = 0  # bytes of earlier files of a zip

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.begun

    def write(
        self, items: Iterable[Item | str], out: TextIO, read: Callable[[], int], *, one_document: bool
    ) -> None:
        """Sanitise the items and write all of them in their order; `read` says how many bytes were read."""
        shared: Memory | None = {} if one_document else None
        batch: list[Item | str] = []
        held, before = 0, read()
        for item in items:
            batch.append(item)
            held += (
                len(item) if isinstance(item, str) else len(item.text) + len(item.before) + len(item.after)
            )
            if held >= _BATCH_CHARS or len(batch) >= _BATCH_ITEMS:
                self._flush(batch, out, shared, (before, read()))
                batch, held, before = [], 0, read()
        self._flush(batch, out, shared, (before, read()))

    def _flush(
        self, batch: list[Item | str], out: TextIO, shared: Memory | None, stretch: tuple[int, int]
    ) -> None:
        """Sanitise and write a batch that lies in these bytes of the file."""
        ready: dict[int, tuple[str, list[Unit]]] = {}
        failures: dict[int, str] = {}
        for at, item in enumerate(batch):
            if isinstance(item, Item):
                self.tally.rows += 1
                try:
                    ready[at] = item.text, self._units(item)
                except StudioError as error:
                    failures[at] = str(error).rstrip(".")
        pieces = dict(zip(ready, self._perturbed(list(ready.values()), shared, stretch), strict=True))
        for at, item in enumerate(batch):
            out.write(self._written(item, pieces.get(at), failures.get(at, "")))
        self._tell(stretch[1])

    def _units(self, item: Item) -> list[Unit]:
        if item.failure:
            raise StudioError(item.failure)
        words = word_spans(item.text)
        spans = self.policy.spans(item.text) if item.spans is None else item.spans
        units = find_units(item.text, words, spans)
        self.tally.words += len(words)
        return units

    def _perturbed(
        self, texts: list[tuple[str, list[Unit]]], shared: Memory | None, stretch: tuple[int, int]
    ) -> list[list[Piece]]:
        def told(share: float) -> None:
            self._tell(int(stretch[0] + share * (stretch[1] - stretch[0])))

        if not self.consistent:
            self.tally.draws += sum(len(units) for _, units in texts)
            return perturb(texts, self.mechanism, self.rng, told=told)
        memories: list[Memory] = [{} if shared is None else shared for _ in texts]
        before = len(shared or ())
        result = perturb(texts, self.mechanism, self.rng, memories, told)
        self.tally.draws += sum(map(len, memories)) if shared is None else len(shared) - before
        return result

    def _written(self, item: Item | str, pieces: list[Piece] | None, failure: str) -> str:
        if isinstance(item, str):
            return item
        if pieces is None:
            self.tally.fail(item.place, failure)
            return item.placeholder(failure)
        self.tally.add(pieces)
        return item.before + item.encode("".join(piece.output for piece in pieces)) + item.after

    def _tell(self, read: int) -> None:
        done = min(self.finished + read, self.total)
        if self.progress is not None:
            left = self.seconds * (self.total - done) / done if done else float("inf")
            self.progress(FileProgress(done, self.total, self.tally.rows, self.tally.words, left))
        if self.cancelled is not None and self.cancelled():
            raise Cancelled("Stopped. No output was written.")
