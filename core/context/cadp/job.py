"""CADP training in the background: one at a time, whoever watches, and again after a stop or a restart.

As with trainings on Corpora, a training outlives the page that started it, and what it needs to go on after a
restart is in the data folder until it is continued, discarded, or left alone for too long.
"""

import atexit
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from core.context.cadp.flags import Formats, Mechanism, flagger_for
from core.context.cadp.kept import CadpJob, forget, read_jobs, training_folder
from core.context.cadp.run import Asked, CadpRun
from core.context.cadp.saved import cadp_folder, model_name
from core.context.cadp.status import CadpStatus, status_of
from core.corpus.documents import Corpus
from core.curator.job import hold, is_held
from core.curator.jobs import UNFINISHED_DAYS
from core.errors import InputError
from core.settings import Settings

if TYPE_CHECKING:
    from core.context.cadp.card import Recall
    from core.context.cadp.flags import Flagger
    from core.context.cadp.model import Recipe
    from core.context.detector import Detector
    from core.lm.public import PublicModel

_SWEEP_SECONDS = 900.0


class CadpJobs:
    """One training at a time: two would share the cores and neither would end sooner."""

    def __init__(self, settings: Settings, public: "Callable[[], PublicModel]") -> None:
        self._settings, self._public = settings, public
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._run: CadpRun | None = None
        self._last: CadpStatus | None = None  # how the last training of this process ended
        self._thread: threading.Thread | None = None
        self._sweeper: threading.Thread | None = None
        if any((settings.data_dir / "cadp-training").glob("*")):
            self._sweep_now_and_then()  # an earlier process left something, which has its time

    def status(self) -> CadpStatus | None:
        """The training that runs, or else one that is unfinished, or else the last one of this process."""
        with self._lock:
            if self._run is not None:
                return self._run.status()
            for job in read_jobs(self._settings):
                return status_of(self._settings, job)
            return self._last

    def start(
        self,
        corpus: Corpus,
        recipe: "Recipe",
        detector: "Callable[[], Detector]",
        *,
        formats: Formats = "digits",
        name: str | None = None,
        output: str = "",
    ) -> CadpStatus:
        """Train in a thread of its own. A model that protects nothing is made of synthetic text only."""
        mechanism = recipe.mechanism
        if mechanism == "none" and not corpus.synthetic:
            raise InputError("Training without privacy is for synthetic text: the model could recite it.")
        called = name or model_name(corpus.name, mechanism, recipe.settings.epsilon)
        cadp_folder(self._settings, called)
        job = CadpJob(
            secrets.token_hex(8),
            called,
            corpus.name,
            corpus.synthetic,
            self._settings.model,
            recipe,
            output=output,
        )
        asked = Asked(corpus, lambda: flags_for(mechanism, detector, formats))
        with self._lock:
            self._refuse_if_unfinished()
            return self._begin(job, asked)

    def resume(self, identity: str) -> CadpStatus:
        """Go on with a training that was stopped, interrupted or failed, from what it reached."""
        with self._lock:
            job = self._stopped(identity)
            if job.model != self._settings.model:
                raise InputError(
                    f"'{job.name}' was begun on the model {job.model!r}: start the studio on that one to go "
                    "on, or discard the training."
                )
            self._refuse_if_unfinished(but=job.id)
            return self._begin(replace(job, state="running", sentence=""))

    def cancel(self, identity: str | None = None) -> None:
        """Stop at the next step; what was reached is kept until it is continued or discarded."""
        with self._lock:
            if self._run is None or identity not in (None, self._run.job.id):
                raise InputError("This training is not running here any more.")
            self._run.cancel.set()

    def discard(self, identity: str) -> str:
        """Delete a stopped training with its text; returns its name."""
        with self._lock:
            job = self._stopped(identity)
            with hold(training_folder(self._settings, job.name)):
                forget(self._settings, job.name)
            self._last = None
            return job.name

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the running training to end; whether none is running any more."""
        run = self._run
        return run is None or run.ended.wait(seconds)

    def close(self) -> None:
        """Stop at the next step and keep what was reached: at the next start the training is interrupted."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(60.0)
        atexit.unregister(self.close)

    def sweep(self) -> None:
        """Delete what was left unfinished for too long, and what a crash left before there were flags."""
        for folder in (self._settings.data_dir / "cadp-training").glob("*/"):
            newest = max((path.stat().st_mtime for path in folder.iterdir()), default=0.0)
            if time.time() - newest > UNFINISHED_DAYS * 86_400 and not is_held(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def _begin(self, job: CadpJob, asked: Asked | None = None) -> CadpStatus:
        held = ExitStack()
        held.enter_context(hold(training_folder(self._settings, job.name)))
        self._last, self._run = None, CadpRun(self._settings, job, held, asked)
        self._thread = threading.Thread(target=self._train, args=(self._run,), name="cadp", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self._sweep_now_and_then()
        return self._run.status()

    def _train(self, run: CadpRun) -> None:
        ended = run.train(self._public, self._closing)
        with self._lock:
            run.held.close()
            self._last, self._run = ended, None
        run.ended.set()

    def _stopped(self, identity: str) -> CadpJob:
        job = next((job for job in read_jobs(self._settings) if job.id == identity), None)
        if job is None:
            raise InputError("There is no such unfinished training any more.")
        if job.state == "running":
            raise InputError(f"'{job.name}' is being trained. Stop it first.")
        return job

    def _refuse_if_unfinished(self, but: str = "") -> None:
        if self._run is not None:
            raise InputError("A training is under way. Stop it first, or wait for its end.")
        for job in read_jobs(self._settings):
            if job.state == "running":
                raise InputError(f"'{job.name}' is being trained by another process. Wait for its end.")
            if job.id != but:
                raise InputError(f"The training of '{job.name}' is unfinished: continue or discard it first.")

    def _sweep_now_and_then(self) -> None:
        if self._sweeper is None:
            self._sweeper = threading.Thread(target=self._sweep, name="cadp-sweep", daemon=True)
            self._sweeper.start()

    def _sweep(self) -> None:
        while True:
            with self._lock, suppress(OSError):
                self.sweep()
            if self._closing.wait(_SWEEP_SECONDS):
                return


def flags_for(
    mechanism: Mechanism, detector: "Callable[[], Detector]", formats: Formats = "digits"
) -> "tuple[Flagger, Recall | None]":
    """The flags of a mechanism, and for the context detector its recall on held-out families."""
    if mechanism != "cadp":
        return flagger_for(mechanism, formats=formats), None
    from core.context.cadp.card import Recall
    from core.context.evaluate import card_of

    loaded = detector()
    return flagger_for("cadp", loaded), Recall.of_card(card_of(loaded))
