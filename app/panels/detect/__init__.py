"""Detect: which sentences give or ask for a secret, why, and what to do about them."""

import json
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from app.address import COPY_LINK, AddressField, Field, remember
from app.identity import Curators
from app.panels.detect import endpoints, layout, training_layout
from app.panels.detect.card_look import card_html
from app.panels.detect.handlers import Handlers
from app.panels.detect.layout import EXAMPLES, Layout
from app.panels.detect.teaching import TeachingHandlers, shipped_card
from app.panels.detect.training import TrainingHandlers
from core.context.cadp.job import CadpJobs
from core.corpus import demo_prompts
from core.studio import Studio

# Light handlers pass the queue by, so that a full queue does not keep the page waiting.
_LIGHT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
_HEAVY: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_id": "detect",
    "concurrency_limit": 2,
}
# The lines are already in the browser: the file is made there, and the server keeps no copy.
_EXPORT = """() => {
  const lines = document.querySelector("#detect-exports [data-form='%s']")?.textContent;
  if (!lines) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([lines], {type: 'text/plain;charset=utf-8'}));
  link.download = 'sentences.%s';
  link.click();
  URL.revokeObjectURL(link.href);
}"""
OWN_THRESHOLD = 0.5  # what the slider shows where there is no head to ask


@dataclass(frozen=True)
class Receiver:
    """Where "protect these" goes: the components of Sanitize, and the tabs."""

    text: Component
    chips: Component
    detector: gr.State
    said: Component
    tabs: gr.Tabs


def build(
    demo: gr.Blocks,
    studio: Studio,
    curators: Curators,
    token: gr.BrowserState,
    tab: gr.Tab,
    receiver: Receiver,
) -> list[Field]:
    """The panel; returns the controls whose values are kept in the address."""
    page = layout.build(_threshold(), card_html(shipped_card()))
    does = Handlers(studio, curators)
    _wire_text(page, does, receiver)
    _wire_why(page, does)
    _wire_teaching(page, does, token)
    gr.on(
        [demo.load, tab.select, token.change],
        does.refresh_detectors,
        [token, page.taught],
        [page.which, page.teaching.keeping],
        **_LIGHT,
    )
    _wire_training(demo, page, does, studio, token, tab)
    endpoints.build(does)
    field = AddressField("threshold", page.threshold, 0.0, 1.0)
    remember(field)
    return [field]


def _wire_text(page: Layout, does: Handlers, receiver: Receiver) -> None:
    results = [page.summary, page.marked, page.plot, page.exports, page.found]
    page.detect.click(
        does.mark,
        [page.text, page.which, page.threshold, page.taught],
        [page.said, *results, page.why, page.secret, page.picked, page.model_said],
        **_HEAVY,
    )
    page.threshold.change(
        does.move, [page.found, page.threshold], results, trigger_mode="always_last", **_HEAVY
    )
    page.which.input(does.choose, [page.which, page.taught], [page.threshold, page.said], **_HEAVY)
    page.upload.upload(does.upload, page.upload, [page.text, page.said], **_HEAVY)
    for button, example in zip(page.examples, EXAMPLES.values(), strict=True):
        button.click(None, None, page.text, js=f"() => {json.dumps(example)}")
    sent = [page.said, receiver.text, receiver.chips, receiver.detector, receiver.said, receiver.tabs]
    page.protect.click(does.protect, [page.text, page.found], sent, **_LIGHT)
    page.csv.click(None, js=_EXPORT % ("csv", "csv"))
    page.jsonl.click(None, js=_EXPORT % ("jsonl", "jsonl"))
    page.copy_link.click(None, js=COPY_LINK)


def _wire_why(page: Layout, does: Handlers) -> None:
    page.marked.select(does.why, page.found, [page.why, page.secret, page.picked, page.model_said], **_HEAVY)
    asked = [page.found, page.picked, page.secret, page.alpha]
    page.ask_model.click(does.ask_model, asked, page.model_said, **_HEAVY)


def _wire_teaching(page: Layout, does: Handlers, token: gr.BrowserState) -> None:
    part, teaches = page.teaching, TeachingHandlers(does)
    changed = [part.taught, page.taught, page.which, page.card]
    lesson = [part.sensitive, part.harmless, page.which, page.taught]
    for event in (
        part.teach.click(teaches.teach, lesson, changed, **_HEAVY),
        part.file.upload(teaches.teach_file, [part.file, page.which, page.taught], changed, **_HEAVY),
        part.load.upload(teaches.load_taught, part.load, changed, **_HEAVY),
        part.back.click(teaches.back_to_shipped, None, changed, **_HEAVY),
    ):
        event.then(does.choose, [page.which, page.taught], [page.threshold, page.said], **_HEAVY)
    kept = [token, part.name, page.taught]
    part.keep.click(teaches.keep_taught, kept, [part.taught, page.which], **_LIGHT)
    part.forget.click(teaches.delete_taught, kept, [part.taught, page.which], **_LIGHT)


def _wire_training(
    demo: gr.Blocks, page: Layout, does: Handlers, studio: Studio, token: gr.BrowserState, tab: gr.Tab
) -> None:
    part = training_layout.build(demo_prompts()[0].prompt)
    trains = TrainingHandlers(does, CadpJobs(studio.settings, studio.public))
    looked = [
        part.corpus, part.status, part.train, part.stop, part.resume, part.discard, part.job, part.timer,
        part.asking, part.model,
    ]  # fmt: skip
    look = {"fn": trains.look_at_cadp, "inputs": [token, part.model], "outputs": looked}
    gr.on([demo.load, tab.select, token.change], **look, **_LIGHT)
    part.timer.tick(trains.tick_cadp, [token, part.model], [*looked, part.card], **_LIGHT)
    chosen = [part.corpus, part.mechanism, part.epsilon, part.share, part.passes]
    start = part.train.click(
        trains.train_cadp, [token, *chosen, page.which, page.taught, page.threshold], part.said, **_HEAVY
    )
    start.then(**look, **_LIGHT)
    for button, act in (
        (part.stop, trains.stop_cadp),
        (part.resume, trains.continue_cadp),
        (part.discard, trains.discard_cadp),
    ):
        button.click(act, [token, part.job], part.said, **_LIGHT).then(**look, **_LIGHT)
    part.ask.click(trains.ask_cadp, [token, part.model, part.prompt], part.answers, **_HEAVY)
    part.model.change(trains.cadp_card, [token, part.model], part.card, **_LIGHT)


def _threshold() -> float:
    """The shipped threshold, without loading any model."""
    from core.context.head import Head
    from core.context.saved import HEAD
    from core.errors import StudioError

    try:
        return round(Head.load(HEAD).threshold, 2)
    except StudioError:
        return OWN_THRESHOLD
