"""One background worker that trains one corpus at a time, whoever watches.

A training outlives the page that started it: its state is here, and what it needs to go on after a restart is
in the data folder. A second one is refused while one is unfinished, instead of waiting in a line: both would
want all cores, a line would keep private text on disk with nobody watching, and what was checked when a text
was submitted may no longer hold when its turn comes.
"""

import atexit
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.curator.admission import Admission, admit
from core.curator.job import GOING, Job, hold, is_held, read_jobs, training_folder, write_job
from core.curator.run import Run
from core.curator.status import JobStatus
from core.curator.uploads import Reading, Upload, Uploads
from core.errors import InputError, StudioError
from core.settings import Settings
from core.store import Ledger

if TYPE_CHECKING:
    from core.ensembles import Plan
    from core.lm.public import PublicModel

UNFINISHED_DAYS = 7  # how long a training that was stopped can be continued
_SWEEP_SECONDS = 900.0


class Note(Protocol):
    """Writes a line of the session log."""

    def __call__(
        self, *, session: str, panel: str, action: str, outcome: str, duration_ms: float, corpus: str
    ) -> None:
        """Note what was done."""
        ...


class Jobs:
    """The worker and its jobs: one for a process."""

    def __init__(
        self,
        settings: Settings,
        *,
        public: "Callable[[], PublicModel]",
        ledger: Callable[[], Ledger],
        note: Note,
    ) -> None:
        self.settings, self.uploads = settings, Uploads(settings)
        self._public, self._ledger, self._note = public, ledger, note
        self._lock = threading.RLock()
        self._wake, self._closing = threading.Event(), threading.Event()
        self._run: Run | None = None
        self._last: JobStatus | None = None  # how the last training of this process ended
        self._worker: threading.Thread | None = None
        if any(any((settings.data_dir / name).glob("*")) for name in ("uploads", "training")):
            self._start_worker()  # an earlier process left something, which has its time

    def take(self, path: Path) -> Upload:
        """Move an uploaded file in. One text waits at a time: an earlier one is deleted."""
        with self._lock:
            before = self.waiting()
            upload = self.uploads.take(path)
            if before is not None:
                self.uploads.delete(before.id)
        self._start_worker()
        return upload

    def waiting(self) -> Upload | None:
        """The text that waits for its training."""
        with self._lock:
            return self.uploads.waiting({job.upload for job in self._jobs()})

    def admit(
        self, upload: Upload, how: Reading, plan: "Plan", name: str, *, guarantees_add: bool = False
    ) -> Admission:
        """What stands in the way of a training is raised; what should be known beforehand is in the notes."""
        corpus = self.uploads.read(upload, how, name)
        return admit(self.settings, self._ledger(), corpus, plan, name, guarantees_add=guarantees_add)

    def submit(
        self,
        upload: Upload,
        how: Reading,
        plan: "Plan",
        name: str,
        *,
        guarantees_add: bool = False,
        session: str = "none",
    ) -> str:
        """Start a training and return its id."""
        with self._lock:
            self._refuse_if_unfinished()
        admission = self.admit(upload, how, plan, name, guarantees_add=guarantees_add)
        job = Job(secrets.token_hex(8), admission.name, upload.id, how, plan, guarantees_add, session)
        with self._lock:
            self._refuse_if_unfinished()
            self._begin(job, admission)
        return job.id

    def resume(self, identity: str, *, session: str = "none") -> None:
        """Go on with a training that was stopped, interrupted or failed, from what it reached."""
        job = self._stopped(identity)
        upload = self.uploads.find(job.upload)
        admission = self.admit(upload, job.reading, job.plan, job.name, guarantees_add=job.guarantees_add)
        with self._lock:
            self._refuse_if_unfinished(but=job.id)
            self._begin(replace(job, session=session, state="queued", sentence=""), admission)

    def cancel(self, identity: str) -> None:
        """Stop a training at its next step; what it reached is kept until it is continued or discarded."""
        with self._lock:
            if self._run is None or self._run.job.id != identity:
                raise InputError("This training is not running here any more.")
            self._run.cancel.set()

    def discard(self, identity: str) -> str:
        """Delete a stopped training with its text; returns its name."""
        with self._lock:
            job = self._stopped(identity)
            shutil.rmtree(training_folder(self.settings, job.name), ignore_errors=True)
            self.uploads.delete(job.upload)
            self._last = None
            return job.name

    def statuses(self) -> tuple[JobStatus, ...]:
        """What is under way, what is unfinished, and how the last training of this process ended."""
        with self._lock:
            found = [self._status(job) for job in self._jobs()]
            if self._last is not None and all(each.id != self._last.id for each in found):
                found.append(self._last)
            return tuple(found)

    def busy_with(self, name: str) -> bool:
        """Whether this ensemble is being trained."""
        with self._lock:
            return self._run is not None and self._run.job.name == name

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the running training to end; whether none is running any more."""
        run = self._run
        return run is None or run.ended.wait(seconds)

    def close(self) -> None:
        """Stop at the next step and keep what was reached: at the next start the training is interrupted."""
        self._closing.set()
        self._wake.set()
        if self._worker is not None:
            self._worker.join(60.0)
        atexit.unregister(self.close)

    def _jobs(self) -> list[Job]:
        """All jobs on disk; the one that runs here is known better from memory."""
        if self._run is None:
            return read_jobs(self.settings)
        return [self._run.job, *read_jobs(self.settings, but=self._run.job.name)]

    def _stopped(self, identity: str) -> Job:
        with self._lock:
            job = next((job for job in self._jobs() if job.id == identity), None)
        if job is None:
            raise InputError("There is no such unfinished training any more.")
        if job.state in GOING:
            raise InputError(f"'{job.name}' is being trained. Stop it first.")
        return job

    def _refuse_if_unfinished(self, but: str = "") -> None:
        for job in self._jobs():
            if job.state in GOING:
                raise InputError(
                    f"'{job.name}' is being trained, and one training runs at a time. Wait, or stop it."
                )
            if job.id != but:
                raise InputError(f"The training of '{job.name}' is unfinished: continue or discard it first.")

    def _begin(self, job: Job, admission: Admission) -> None:
        held = ExitStack()
        held.enter_context(hold(training_folder(self.settings, job.name)))
        try:
            write_job(self.settings, job)
        except OSError as error:
            held.close()
            raise InputError(f"Nothing can be written: {error.strerror or 'the disk failed'}.") from error
        self._last, self._run = None, Run(self.settings, job, admission, held)
        self._start_worker()
        self._wake.set()

    def _status(self, job: Job) -> JobStatus:
        if self._run is not None and self._run.job.id == job.id:
            return self._run.status()
        if self._last is not None and self._last.id == job.id:
            return self._last
        return JobStatus(
            job.id, job.name, job.state, job.reached, sentence=job.sentence, kept=job.state not in GOING
        )

    def _start_worker(self) -> None:
        with self._lock:
            if self._worker is None and not self._closing.is_set():
                self._worker = threading.Thread(target=self._work, name="training", daemon=True)
                self._worker.start()
                atexit.register(self.close)

    def _work(self) -> None:
        while not self._closing.is_set():
            with suppress(OSError, StudioError):
                self.sweep()
            self._wake.wait(_SWEEP_SECONDS)
            self._wake.clear()
            run = self._run
            if run is not None and not self._closing.is_set():
                started = time.perf_counter()
                self._end(run, run.train(self._public, self._ledger, self._closing))
                self._note(
                    session=run.job.session,
                    panel="corpora",
                    action="train",
                    outcome=run.job.state,
                    duration_ms=(time.perf_counter() - started) * 1000,
                    corpus=run.admission.corpus.name,
                )
                run.ended.set()

    def _end(self, run: Run, status: JobStatus) -> None:
        """Leave on disk what the ending calls for."""
        folder = training_folder(self.settings, run.job.name)
        with self._lock:
            if status.state == "done":
                shutil.rmtree(folder, ignore_errors=True)
                self.uploads.delete(run.job.upload)
            elif status.state == "failed" and not run.reached:
                shutil.rmtree(folder, ignore_errors=True)  # the text waits on, for another plan
            else:
                status = replace(status, kept=True)
                with suppress(OSError):  # then the lock, which is let go, tells that it ended
                    write_job(self.settings, run.job)
            run.held.close()
            self._last, self._run = status, None

    def sweep(self) -> None:
        """Delete what waited or was left unfinished for too long, and what a crash left."""
        data = self.settings.data_dir
        with self._lock:
            running = self._run.job.name if self._run else None
            for folder in (data / "training").glob("*/"):
                newest = max((path.stat().st_mtime for path in folder.iterdir()), default=0.0)
                if _older(newest, UNFINISHED_DAYS) and folder.name != running and not is_held(folder):
                    shutil.rmtree(folder, ignore_errors=True)
            for folder in (data / "ensembles").glob(".*/"):  # saving or deleting was cut short
                if _older(folder.stat().st_mtime, 1):
                    shutil.rmtree(folder, ignore_errors=True)
            self.uploads.sweep({job.upload for job in self._jobs()})


def _older(moment: float, days: int) -> bool:
    return time.time() - moment > days * 86_400
