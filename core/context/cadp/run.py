"""One CADP training in this process: from its flags, or from what an earlier run reached, to its model."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.context.cadp.flags import Flagger, KeptFlags, NotedFlags
from core.context.cadp.kept import (
    CadpJob,
    forget,
    is_kept,
    read_text,
    training_folder,
    write_job,
    write_text,
)
from core.context.cadp.saved import cadp_folder
from core.context.cadp.status import CadpStatus, State, most_of, status_of
from core.corpus.documents import Corpus
from core.curator.run import give_way, sentence_of
from core.errors import StudioError
from core.settings import Settings

if TYPE_CHECKING:
    from core.context.cadp.card import Recall
    from core.context.cadp.plan import CadpProgress
    from core.lm.public import PublicModel


@dataclass(frozen=True)
class Asked:
    """What a training begins with; what flags is loaded when it is needed."""

    corpus: Corpus
    flags: "Callable[[], tuple[Flagger, Recall | None]]"


class CadpRun:
    """A job under way. It holds the lock of its folder from its start to its end."""

    def __init__(self, settings: Settings, job: CadpJob, held: ExitStack, asked: Asked | None = None) -> None:
        self.job, self.held = job, held
        self.cancel, self.ended = threading.Event(), threading.Event()
        self._settings, self._asked = settings, asked
        self._folder = training_folder(settings, job.name)
        self._progress: CadpProgress | None = None
        self._begun = (  # with what an earlier run reached
            CadpStatus(job.name, job.synthetic, id=job.id, most=most_of(job))
            if asked
            else replace(status_of(settings, job), state="loading", sentence="", kept=False)
        )

    def status(self) -> CadpStatus:
        """How far it is."""
        return self._begun if self._progress is None else self._begun.at(self._progress)

    def train(self, public: "Callable[[], PublicModel]", closing: threading.Event) -> CadpStatus:
        """Train to the end, whatever end that is, and leave on disk what it calls for; the status is final.

        The last step is in the checkpoint before the model is saved, and the checkpoint goes when it is.
        """
        from core.context.cadp.files import save_cadp
        from core.context.cadp.model import train_cadp
        from core.lm.training import TrainingCancelled

        try:
            model = public()
            self._hear(closing)
            give_way()  # after the model is loaded, for which others may be waiting
            corpus, flagger = self._source(closing)
            trained = train_cadp(
                corpus,
                model,
                self.job.recipe,
                flagger,
                recall=self.job.recall,
                checkpoints=self._folder,
                progress=self._note,
                cancelled=lambda: self.cancel.is_set() or closing.is_set(),
            )
            folder = Path(self.job.output) if self.job.output else cadp_folder(self._settings, self.job.name)
            save_cadp(folder, trained, model)
        except TrainingCancelled:
            return self._unfinished("stopped" if self.cancel.is_set() else "interrupted")
        except Exception as error:  # the page must learn of whatever a training dies of
            return self._unfinished("failed", error)
        forget(self._settings, self.job.name)
        return replace(self.status(), state="done", share=1.0, seconds_left=None, card=trained.card)

    def _hear(self, closing: threading.Event) -> None:
        """A stop before there is anything to keep."""
        from core.lm.training import TrainingCancelled

        if self.cancel.is_set() or closing.is_set():
            raise TrainingCancelled("Training was stopped before it began.")

    def _source(self, closing: threading.Event) -> tuple[Corpus, Flagger]:
        if self._asked is None:
            corpus, flags = read_text(self._folder, self.job)
            write_job(self._folder, self.job)  # that it runs again, for whoever looks
            return corpus, KeptFlags(self.job.flags, flags)
        flagger, recall = self._asked.flags()
        self.job = replace(self.job, flags=flagger.name, recall=recall)
        corpus = self._asked.corpus

        def keep(flags: list[bool]) -> None:
            """From now on the training can be continued. The job comes last: with it all else is there."""
            self._hear(closing)
            write_text(self._folder, corpus, flags)
            write_job(self._folder, self.job)

        return corpus, NotedFlags(flagger, keep)

    def _note(self, progress: "CadpProgress") -> None:
        self._progress = progress

    def _unfinished(self, state: State, error: Exception | None = None) -> CadpStatus:
        """What can be continued is kept, anything less is deleted."""
        kept = is_kept(self._folder)
        sentence = "" if error is None else _sentence(error, kept=kept)
        if not kept:
            forget(self._settings, self.job.name)
            return replace(self.status(), state=state, seconds_left=None, sentence=sentence)
        self.job = replace(self.job, state=state, sentence=sentence)  # type: ignore[arg-type]
        try:
            write_job(self._folder, self.job)
        except OSError:  # then the lock, which is let go, tells that it ended
            return replace(self.status(), state=state, seconds_left=None, sentence=sentence, kept=True)
        return status_of(self._settings, self.job)


def _sentence(error: Exception, *, kept: bool) -> str:
    said = sentence_of(error)
    if kept or isinstance(error, StudioError):
        return said
    return said.split(". ")[0].rstrip(".") + "."  # the rest tells what is kept
