"""One training in this process: how far it is, how it ends, and how it gives way to those who answer."""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from core.curator.admission import Admission
from core.curator.job import Job, State, training_folder, write_job
from core.curator.status import Curve, JobStatus, thinned
from core.curator.train import train_admitted
from core.errors import StudioError
from core.settings import Settings
from core.store import Ledger

if TYPE_CHECKING:
    from core.lm.finetune import Progress
    from core.lm.public import PublicModel

_NICE = 10  # the scheduler then gives an answer about nine times the training's share of a core
_KEEP_SECONDS = 5.0


class Run:
    """A job under way. It holds the lock of its folder from submission to its end."""

    def __init__(self, settings: Settings, job: Job, admission: Admission, held: ExitStack) -> None:
        self.job, self.admission, self.held = job, admission, held
        self.cancel, self.ended = threading.Event(), threading.Event()
        self._settings = settings
        self._progress: Progress | None = None
        self._kept_at = 0.0

    @property
    def reached(self) -> float:
        """The share that is done, in this run or an earlier one."""
        return self._progress.share if self._progress else self.job.reached

    def status(self) -> JobStatus:
        """How far it is."""
        job, seen = self.job, self._progress
        status = JobStatus(job.id, job.name, job.state, self.reached, notes=self.admission.notes)
        if seen is None:
            return status
        curves = tuple(Curve(name, thinned(list(losses))) for name, losses in list(seen.curves.items()))
        return replace(status, seconds_left=seen.seconds_left, adapter=seen.adapter, curves=curves)

    def train(
        self, public: "Callable[[], PublicModel]", ledger: Callable[[], Ledger], closing: threading.Event
    ) -> JobStatus:
        """Train to the end, whatever end that is; the status is final."""
        from core.lm.training import TrainingCancelled

        try:
            model = public()
            give_way()  # after the model is loaded, for which others may be waiting
            self.job = replace(self.job, state="running")
            reports = train_admitted(
                self.admission,
                self._settings,
                ledger(),
                model,
                checkpoints=training_folder(self._settings, self.job.name),
                progress=self._note_progress,
                cancelled=lambda: self.cancel.is_set() or closing.is_set(),
            )
        except TrainingCancelled:
            return self._ended("cancelled" if self.cancel.is_set() else "interrupted")
        except Exception as error:  # the worker must outlive whatever a training dies of
            return self._ended("failed", sentence_of(error))
        return replace(self._ended("done"), share=1.0, reports=reports)

    def _ended(self, state: State, sentence: str = "") -> JobStatus:
        self.job = replace(self.job, state=state, reached=self.reached, sentence=sentence)
        return replace(self.status(), seconds_left=None, sentence=sentence)

    def _note_progress(self, progress: "Progress") -> None:
        self._progress = progress
        if time.monotonic() - self._kept_at > _KEEP_SECONDS:
            self._kept_at = time.monotonic()
            with suppress(OSError):  # shown after a restart, and not worth failing for
                write_job(self._settings, replace(self.job, reached=progress.share))


def sentence_of(error: Exception) -> str:
    """What ended a training, in a sentence that holds nothing of the text."""
    if isinstance(error, StudioError):
        return str(error)
    full = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    if getattr(error, "errno", None) in full or any(f"os error {number}" in str(error) for number in full):
        return "The disk is full. Make room, then continue: what was reached is kept."
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "There is not enough memory for this training. Train fewer layers, or on a larger machine."
    if isinstance(error, OSError):
        return f"The disk failed: {error.strerror or type(error).__name__}. What was reached is kept."
    return f"The training ended by an unexpected error ({type(error).__name__}). What was reached is kept."


def give_way() -> None:
    """Let this thread, and the threads of matrix products that it starts, run behind those that answer."""
    if sys.platform == "linux":  # elsewhere a priority belongs to the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
