"""Conducting an attack: one at a time, timed, and stored whatever becomes of it."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic

from filelock import FileLock, Timeout

from core.attack.kept.runs import Finding, Outcome, Run, Status
from core.attack.kept.storage import runs_folder, save_run
from core.attack.watch import AttackCancelled, Watch
from core.errors import InputError, StudioError
from core.settings import Settings

_LOCK = ".running.lock"
Find = Callable[[Watch], Sequence[Finding]]


@dataclass(frozen=True)
class Step:
    """A piece of an attack that finds something; `work` is the time it takes, about, in seconds."""

    work: float
    find: Find


@dataclass(frozen=True)
class Prepared:
    """An attack that is ready to run.

    `conclude` makes pictures, verdict and notes of what the steps have found so far; it is asked at the end,
    also of a run that did not come to its end.
    """

    attack: str
    subject: str
    synthetic: bool
    seed: int
    steps: tuple[Step, ...]
    conclude: Callable[[], Outcome]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it will take, about: the steps' work is estimated in seconds by a short trial."""
        return sum(step.work for step in self.steps)


class AttackRunning(InputError):
    """Another attack is running: they would slow each other down and spoil each other's time."""

    def __init__(self) -> None:
        super().__init__("Another attack is running here. Wait until it has ended, or cancel it.")


@contextmanager
def one_at_a_time(settings: Settings) -> Iterator[None]:
    """Hold the only place for an attack, across sessions and processes; `AttackRunning` if it is taken."""
    lock = FileLock(runs_folder(settings) / _LOCK, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise AttackRunning from error
    except OSError as error:
        raise InputError(f"The folder for runs cannot be written: {error.strerror}.") from error
    try:
        yield
    finally:
        lock.release()


def conduct(
    settings: Settings,
    prepared: Prepared,
    *,
    watch: Watch | None = None,
    notice: Callable[[Outcome], None] | None = None,
) -> Run:
    """Run the steps in turn and store what they found.

    A cancel or an error ends the run and loses nothing: what was found before is stored, with the sentence
    that says what happened. An error before anything was found is raised. `notice` is told the outcome so
    far after every step.
    """
    begun, created = monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    findings: list[Finding] = []
    status: Status = "finished"
    problem = ""
    watch = watch or Watch()
    with one_at_a_time(settings):
        try:
            for piece, step in _shares(watch, prepared.steps):
                findings += step.find(piece)
                if notice is not None:
                    notice(replace(prepared.conclude(), findings=tuple(findings)))
            if watch.cancelled():  # the last step may have ended early and handed over what it had
                raise AttackCancelled
        except AttackCancelled as error:
            status, problem = "cancelled", str(error)
        except StudioError as error:
            if not findings:
                raise
            status, problem = "stopped", str(error)
        outcome = replace(prepared.conclude(), findings=tuple(findings)) if findings else Outcome()
        return save_run(
            settings,
            Run(
                id="",
                attack=prepared.attack,
                subject=prepared.subject,
                synthetic=prepared.synthetic,
                created=created,
                seconds=round(monotonic() - begun, 1),
                seed=prepared.seed,
                settings=dict(prepared.settings),
                outcome=outcome,
                status=status,
                problem=problem,
            ),
        )


def _shares(watch: Watch, steps: Sequence[Step]) -> Iterator[tuple[Watch, Step]]:
    """Every step with the stretch of the watch that its work takes."""
    total, done = sum(step.work for step in steps) or 1.0, 0.0
    for step in steps:
        yield watch.part(done / total, (done + step.work) / total), step
        done += step.work


class Cancel:
    """A flag that another thread may set to end an attack between two steps of its work."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask the attack to end."""
        self._event.set()

    def __call__(self) -> bool:
        """Whether the attack should end."""
        return self._event.is_set()
