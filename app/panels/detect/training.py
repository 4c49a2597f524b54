"""CADP training on a click. Private text, and what was learned from it, are for the curator."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.panels.detect.handlers import Handlers
from app.panels.detect.training_layout import DEMO, EPSILONS, MECHANISMS
from app.panels.detect.training_look import answers_html, card_html, status_html
from core.catalogue import Entry
from core.context.cadp.job import CadpJobs
from core.context.cadp.saved import list_cadp
from core.context.cadp.status import CadpStatus
from core.context.detector import Detector
from core.corpus import Corpus, load_demo
from core.errors import InputError, StudioError

UPLOAD = "upload"
_LENGTH = 40
_RANK, _LAYERS, _BATCH = 8, 4, 16


class TrainingHandlers:
    """Train, watch, stop, go on, and ask."""

    def __init__(self, does: Handlers, jobs: CadpJobs) -> None:
        self._does, self.jobs = does, jobs

    def look_at_cadp(self, token: str, chosen: str | None = None) -> tuple[Any, ...]:
        """Texts, the training, its four buttons, its id, the timer, whether and which models may be asked."""
        curator, status = self._does.curators.knows(token), self.jobs.status()
        going, seen = status is not None and status.going, self._seen(status, curator)
        kept = seen is not None and seen.kept
        names = [entry.name for entry in self._models(curator)]
        value = chosen if chosen in names else names[-1] if names else None
        return (
            gr.update(choices=self._texts(curator)),
            notice("A training is under way.") if going and seen is None else status_html(seen),
            gr.update(visible=not going and not kept),
            gr.update(visible=going and seen is not None),
            gr.update(visible=kept),
            gr.update(visible=kept),
            seen.id if seen else "",
            gr.update(active=going),
            gr.update(visible=bool(names)),
            gr.update(choices=names, value=value),
        )

    def tick_cadp(self, token: str, chosen: str | None = None) -> tuple[Any, ...]:
        """A look at the training that runs; when it has ended, its model is chosen and its card shown."""
        status = self._seen(self.jobs.status(), self._does.curators.knows(token))
        if status is None or status.card is None:
            return *self.look_at_cadp(token, chosen), gr.skip()
        return *self.look_at_cadp(token, status.name), card_html(status.card)

    def train_cadp(
        self,
        token: str,
        corpus: str,
        mechanism: str,
        epsilon: float,
        share: float,
        passes: float,
        which: str,
        taught: Detector | None,
        threshold: float,
        request: gr.Request,
    ) -> str:
        """Start a training; whatever stands in its way is a sentence."""
        from core.context.cadp.model import Recipe
        from core.lm.stack import LoraShape

        try:
            with self._does.noted(request, "train"):
                if mechanism not in MECHANISMS or float(epsilon) not in EPSILONS:
                    raise InputError("Choose one of the mechanisms and one of the epsilons.")
                if not (5 <= float(share) <= 100 and 0.5 <= float(passes) <= 5.0):
                    raise InputError("Take 5 to 100 percent of the text, and half a pass to five passes.")
                curator, status = self._does.curators.knows(token), self.jobs.status()
                unended = status is not None and (status.going or status.kept)
                if unended and self._seen(status, curator) is None:
                    raise InputError("The curator's training comes first; one is made at a time.")
                text = self._text(corpus, curator)
                layers = min(_LAYERS, int(self._does.studio.public().model.config.num_hidden_layers))
                recipe = Recipe.of(
                    mechanism,  # type: ignore[arg-type]
                    shape=LoraShape(layers=layers, rank=_RANK, alpha=2.0 * _RANK),
                    epsilon=float(epsilon),
                    passes=float(passes),
                    batch=_BATCH,
                )

                def detector() -> Detector:
                    return self._does.detector(which, taught).at(float(threshold))

                if mechanism == "cadp":
                    detector()  # what stands in its way is said now and not later
                self.jobs.start(_part(text, float(share)), recipe, detector)
        except StudioError as error:
            return notice(str(error), kind="problem")
        return ""

    def stop_cadp(self, token: str, job: str, request: gr.Request) -> str:
        """Stop the training at its next step, for those who may see it."""
        return self._act(token, request, "stop training", lambda: self.jobs.cancel(job))

    def continue_cadp(self, token: str, job: str, request: gr.Request) -> str:
        """Go on from what was reached."""
        return self._act(token, request, "continue training", lambda: self.jobs.resume(job))

    def discard_cadp(self, token: str, job: str, request: gr.Request) -> str:
        """Delete the copy of the text and what was learned."""
        return self._act(token, request, "discard training", lambda: self.jobs.discard(job))

    def _act(self, token: str, request: gr.Request, action: str, act: Callable[[], object]) -> str:
        try:
            with self._does.noted(request, action):
                if self._seen(self.jobs.status(), self._does.curators.knows(token)) is None:
                    raise InputError("There is no training here that you could stop, continue or discard.")
                act()
        except StudioError as error:
            return notice(str(error), kind="problem")
        return ""

    @staticmethod
    def _seen(status: CadpStatus | None, curator: bool) -> CadpStatus | None:
        """The training, for those who may see it: a private one is the curator's, its name included."""
        return status if status is not None and (status.synthetic or curator) else None

    def ask_cadp(self, token: str, name: str | None, prompt: str, request: gr.Request) -> Iterator[str]:
        """The trained model's answer beside the public model's, as they are drawn."""
        from core.context.cadp.files import ServedCadp
        from core.predict.decoding import Decoding
        from core.predict.generate import stream_public

        try:
            with self._does.noted(request, "ask", prompt):
                entry = self._model(token, name)
                yield notice("Loading the model.")
                public, limits = self._does.studio.public(), self._does.studio.settings
                decoding = Decoding(temperature=0.7, top_k=50, top_p=0.95)
                own, other = "", ""
                for step in ServedCadp(entry.folder, public).stream(
                    prompt, decoding, length=_LENGTH, limits=limits
                ):
                    own += step.text
                    yield answers_html(entry.name, prompt, own, other)
                for text in stream_public(public, prompt, decoding, length=_LENGTH, limits=limits):
                    other += text.text
                    yield answers_html(entry.name, prompt, own, other)
        except StudioError as error:
            yield notice(str(error), kind="problem")

    def cadp_card(self, token: str, name: str | None) -> str:
        """The card of a model."""
        from core.context.cadp.files import read_card

        if not name:
            return ""
        try:
            return card_html(read_card(self._model(token, name).folder))
        except StudioError as error:
            return notice(str(error), kind="problem")

    def _texts(self, curator: bool) -> list[tuple[str, str]]:
        listed = [("Ward notes (synthetic)", DEMO)]
        upload = self._does.studio.jobs.waiting() if curator else None
        return [*listed, (f"{upload.name}, waiting on Corpora", UPLOAD)] if upload else listed

    def _text(self, name: str, curator: bool) -> Corpus:
        from core.curator.uploads import Reading

        if name == DEMO:
            return load_demo()
        upload = self._does.studio.jobs.waiting() if curator and name == UPLOAD else None
        if upload is None:
            raise InputError("Text of one's own is uploaded on Corpora, by the curator; here is the demo.")
        return self._does.studio.jobs.uploads.read(upload, Reading())

    def _models(self, curator: bool) -> list[Entry]:
        settings = self._does.studio.settings
        found = [entry for entry in list_cadp(settings) if entry.fits(settings)]
        return [entry for entry in found if entry.synthetic or curator]

    def _model(self, token: str, name: str | None) -> Entry:
        for entry in self._models(self._does.curators.knows(token)):
            if entry.name == name:
                return entry
        raise InputError("There is no such model here. Train one first.")


def _part(corpus: Corpus, percent: float) -> Corpus:
    """The first documents of a corpus: a choice by count, that looks at nobody's text."""
    count = max(1, round(len(corpus.documents) * percent / 100))
    return replace(corpus, documents=corpus.documents[:count])
