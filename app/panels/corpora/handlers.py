"""What happens to a text on a click: taken in, read, planned, trained. All of it for the curator."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.components.upload import forget_upload, is_upload
from app.noting import session_of
from app.panels.corpora import look
from app.panels.corpora.asked import plan_from, reading_from, suggested_name
from app.panels.corpora.desk import Changes, Desk, for_curators, problem, shown
from core.corpus import Corpus, partition_corpus, report_corpus
from core.curator.guidance import Guidance, guide
from core.curator.uploads import Upload
from core.errors import InputError, StudioError

TIMING = "Timing a few steps to tell how long it will take."


class Handlers(Desk):
    """Steps 1 to 3, and the training that runs."""

    def upload(self, token: str, request: gr.Request, path: str | None, *reading: Any) -> Changes:
        """Take a file out of the web server's cache at once, and read it. What cannot be read is deleted."""
        try:
            if not self.curators.knows(token):
                return self.visitor()
            if path is None or not is_upload(path):
                return gr.skip()
            return {self.page.file: None, **self._take(request, Path(path), reading)}
        finally:
            forget_upload(path)

    @for_curators
    def read(self, token: str, request: gr.Request, *reading: Any) -> Changes:
        """Read the waiting text again, with other columns or declarations."""
        try:
            with self.noted(request, "read"):
                return self._read(self._waiting(), reading)
        except StudioError as error:
            return {self.page.said: problem(error), self.page.plan: shown(False)}

    @for_curators
    def read_anew(self, token: str, request: gr.Request, *reading: Any) -> Changes:
        """A declaration was changed: read the text anew, where there is one."""
        if self.jobs.waiting() is None:
            return gr.skip()
        return self.read(token, request, *reading)

    @for_curators
    def forget(self, token: str, request: gr.Request) -> Changes:
        """Delete the waiting text."""
        upload = self.jobs.waiting()
        if upload is not None:
            with self.noted(request, "remove"):
                self.jobs.uploads.delete(upload.id)
        return {self.page.said: notice("The text is deleted."), **self.waits(False)}

    @for_curators
    def guide(self, token: str, *values: Any) -> Changes:
        """The advice for another name, which places users anew, or for halves."""
        reading, planning = self._split(values)
        try:
            corpus = self.jobs.uploads.read(self._waiting(), reading_from(reading))
            plan = plan_from(planning).plan
            return self._guided(corpus, str(planning[0]).strip(), plan.halves, plan.parts)[1]
        except StudioError as error:
            return {self.page.guidance: problem(error)}

    @for_curators
    def estimate(self, token: str, *values: Any) -> Changes:
        """How long it will take; asked for after the report, for a few steps of the model are timed."""
        from core.curator.estimate import count_tokens, expected_seconds

        reading, planning = self._split(values)
        status, upload = self.status(), self.jobs.waiting()
        if upload is None or (status is not None and status.going):
            return {self.page.estimate: ""}
        try:
            public = self.studio.public()
            layers = int(public.model.config.num_hidden_layers)
            plan = plan_from(planning, most_layers=layers).plan
            corpus = self.jobs.uploads.read(upload, reading_from(reading))
            if len(corpus.users) < plan.parts:  # said above, where the parts are chosen
                return {self.page.estimate: ""}
            tokens = count_tokens(public, corpus)
            seconds = expected_seconds(public, plan, tokens)
        except StudioError as error:
            return {self.page.estimate: problem(error)}
        return {
            self.page.estimate: look.estimate_html(seconds, tokens),
            self.page.plans.layers: gr.update(maximum=layers, value=plan.training.shape.layers),
        }

    @for_curators
    def train(self, token: str, request: gr.Request, *values: Any) -> Changes:
        """Submit the training; whatever stands in its way is said below the button."""
        reading, planning = self._split(values)
        name = str(planning[0]).strip()
        try:
            with self.noted(request, "submit", name):
                wanted = plan_from(planning)
                self.jobs.submit(
                    self._waiting(),
                    reading_from(reading),
                    wanted.plan,
                    name,
                    guarantees_add=wanted.guarantees_add,
                    session=session_of(request),
                )
        except StudioError as error:
            return {self.page.refused: problem(error)}
        return {self.page.refused: "", self.page.said: "", **self.waits(False), **self.training()}

    @for_curators
    def tick(self, token: str) -> Changes:
        """A look at the training that runs; when it has ended, at what came of it."""
        changes, status = self.training(), self.status()
        return changes if status is not None and status.going else {**changes, **self.kept()}

    @for_curators
    def stop(self, token: str, request: gr.Request, job: str) -> Changes:
        """Stop at the next step."""
        return self._act(request, "stop", lambda: self.jobs.cancel(job))

    @for_curators
    def resume(self, token: str, request: gr.Request, job: str) -> Changes:
        """Go on from what was reached."""
        return self._act(request, "continue", lambda: self.jobs.resume(job, session=session_of(request)))

    @for_curators
    def discard(self, token: str, request: gr.Request, job: str) -> Changes:
        """Delete the text and what was learned."""
        return self._act(request, "discard", lambda: self.jobs.discard(job))

    def _act(self, request: gr.Request, action: str, act: Callable[[], object]) -> Changes:
        try:
            with self.noted(request, action):
                act()
        except StudioError as error:
            return {**self.training(), self.page.status: problem(error)}
        return {**self.training(), **self.kept()}

    def _take(self, request: gr.Request, path: Path, reading: tuple[Any, ...]) -> Changes:
        upload: Upload | None = None
        try:
            with self.noted(request, "upload"):
                upload = self.jobs.take(path)
                return self._read(upload, reading)
        except StudioError as error:
            if upload is not None:
                self.jobs.uploads.delete(upload.id)
            return {self.page.said: problem(error), **self.waits(False)}

    def _read(self, upload: Upload, reading: tuple[Any, ...]) -> Changes:
        """The report and the advice. A text that cannot be split is reported all the same."""
        page, how = self.page, reading_from(reading)
        corpus = self.jobs.uploads.read(upload, how)
        name, partition, advice = suggested_name(corpus.name), None, Changes()
        try:
            guidance, advice = self._guided(corpus, name, halves=False)
            partition = partition_corpus(corpus, guidance.suggested, key=self._key(name))
        except InputError as error:
            advice = {page.guidance: problem(error)}
        return {
            page.said: look.waiting_html(upload),
            **self.waits(True),
            page.plan: shown(True),
            page.report: look.report_html(report_corpus(corpus, partition=partition)),
            page.plans.name: name,
            page.plans.whole: gr.update(visible=how.synthetic, value=False),
            page.plans.adds: gr.update(visible=self.has_private()),
            page.refused: "",
            page.estimate: notice(TIMING) if partition else "",
            **advice,
        }

    def _guided(
        self, corpus: Corpus, name: str, halves: bool, parts: int | None = None
    ) -> tuple[Guidance, Changes]:
        guidance = guide(corpus, key=self._key(name), halves=halves)
        chosen = guidance.suggested if parts is None else min(max(parts, 2), guidance.largest)
        slider = gr.update(maximum=max(3, guidance.largest), value=chosen)
        return guidance, {self.page.guidance: look.guidance_html(guidance), self.page.plans.parts: slider}

    def _key(self, name: str) -> bytes:
        from core.ensembles import partition_key

        return partition_key(self.studio.settings, name)

    def _waiting(self) -> Upload:
        upload = self.jobs.waiting()
        if upload is None:
            raise InputError("There is no text here: upload one first.")
        return upload

    def _split(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        count = len(self.page.reading)
        return values[:count], values[count:]
