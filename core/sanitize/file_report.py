"""What is said about a file while it is sanitised and afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import StudioError
from core.sanitize.document import Piece

FAILURES_KEPT = 100  # places that are remembered; the count goes on


class Cancelled(StudioError):
    """The person stopped it; no output was written."""

    code = "cancelled"


@dataclass(frozen=True, slots=True)
class FileProgress:
    """Bytes read of all bytes, rows and words so far, and the seconds left at this pace."""

    done: int
    total: int
    rows: int
    words: int
    seconds_left: float

    @property
    def share(self) -> float:
        """How far it is, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Failed:
    """A row, block or file that was not sanitised. A placeholder stands in the output; the input has it."""

    place: str
    reason: str


@dataclass(frozen=True)
class FileReport:
    """What was done to a file. `failures` are the first 100 of `failed`; `draws` each cost epsilon."""

    output: Path
    kind: str
    rows: int
    words: int
    perturbed: int
    kept_by_chance: int
    out_of_vocabulary: int
    draws: int
    failed: int
    failures: tuple[Failed, ...]
    notes: tuple[str, ...]
    seconds: float


@dataclass
class Tally:
    """Counts on the way, in bounded memory."""

    rows: int = 0
    words: int = 0
    draws: int = 0
    states: dict[str, int] = field(default_factory=lambda: {"kept": 0, "replaced": 0, "oov": 0, "plain": 0})
    failed: int = 0
    failures: list[Failed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, pieces: Sequence[Piece]) -> None:
        """Count what became of one text."""
        for piece in pieces:
            self.states[piece.state] += 1

    def fail(self, place: str, reason: str) -> None:
        """Count one more that failed."""
        self.failed += 1
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append(Failed(place, reason))

    def report(self, output: Path, kind: str, seconds: float) -> FileReport:
        """The counts as they stand."""
        return FileReport(
            output=output,
            kind=kind,
            rows=self.rows,
            words=self.words,
            perturbed=self.states["kept"] + self.states["replaced"] + self.states["oov"],
            kept_by_chance=self.states["kept"],
            out_of_vocabulary=self.states["oov"],
            draws=self.draws,
            failed=self.failed,
            failures=tuple(self.failures),
            notes=tuple(self.notes),
            seconds=seconds,
        )
