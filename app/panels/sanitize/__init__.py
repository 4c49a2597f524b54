"""Sanitize: text in, rewritten text out, with what it is worth and what an attacker gets back."""

import json
from typing import Any

import gradio as gr

from app.address import COPY_LINK, AddressField, ChoiceField, Field, ManyField, remember
from app.components.copying import copies
from app.panels.sanitize import endpoints, layout
from app.panels.sanitize.files import FileHandlers
from app.panels.sanitize.handlers import Handlers, context_html
from app.panels.sanitize.layout import EXAMPLES, NOISES, Layout
from app.panels.sanitize.scale import EPSILONS, EpsilonField
from core.sanitizing import Sanitizer
from core.studio import Studio

# Light handlers pass the queue by, so that a full queue does not keep the page waiting.
_LIGHT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
_HEAVY: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "concurrency_id": "sanitize",
    "concurrency_limit": 2,
}
_TEXT = "(document.querySelector('#sanitized-chosen .plain')?.textContent ?? '')"
_COPY = copies(_TEXT, "The rewritten text is copied.")
# The text is already in the browser: the file is made there, and the server keeps no copy.
_DOWNLOAD = f"""() => {{
  if (!{_TEXT}) {{ studioSay('Rewrite a text first; then there is something to download.'); return; }}
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([{_TEXT}], {{type: 'text/plain;charset=utf-8'}}));
  link.download = 'sanitised.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}}"""
_STEP = f"""(step) => {{
  const epsilon = {json.dumps(EPSILONS)}[step];
  document.querySelector('#sanitize-epsilon input[type=range]')
    ?.setAttribute('aria-valuetext', `epsilon ${{epsilon}}`);
  studioAddress('word_epsilon', epsilon);
}}"""


def build(demo: gr.Blocks, studio: Studio, tab: gr.Tab) -> tuple[list[Field], Layout]:
    """The panel; returns the controls whose values are kept in the address, and what Detect fills in."""
    sanitizer = Sanitizer(studio.settings)
    page, does = layout.build(sanitizer.has_detector), Handlers(studio, sanitizer)
    _wire_choices(demo, page, does, tab)
    _wire_text(page, does)
    _wire_files(page, does, FileHandlers(does))
    endpoints.build(does)
    return _address(page), page


def _address(page: Layout) -> list[Field]:
    """The settings in the address; own words are text and are never there."""
    policies = [str(name) for _, name in page.chips.choices]
    plain: list[Field] = [
        ManyField("policy", page.chips, lambda: policies),
        ChoiceField("noise", page.noise, lambda: NOISES),
    ]
    for field in plain:
        remember(field)
    page.step.change(None, page.step, js=_STEP)
    page.consistent.change(None, page.consistent, js="(same) => studioAddress('consistent', same ? 1 : 0)")
    return [
        *plain,
        EpsilonField("word_epsilon", page.step, EPSILONS[0], EPSILONS[-1]),
        AddressField("consistent", page.consistent, 0, 1, whole=True),
    ]


def _wire_choices(demo: gr.Blocks, page: Layout, does: Handlers, tab: gr.Tab) -> None:
    meant = {"fn": does.mean, "inputs": [page.step, page.noise], "outputs": [page.meaning, page.live]}
    # The newest place of the slider counts; those in between are passed over.
    gr.on([tab.select, page.step.change, page.noise.change], **meant, trigger_mode="always_last", **_HEAVY)
    page.chips.change(context_html, [page.chips, page.detector], page.context_said, **_LIGHT)
    page.chips.change(lambda chips: gr.update(visible="own" in chips), page.chips, page.own, **_LIGHT)
    for button, example in zip(page.examples, EXAMPLES.values(), strict=True):
        button.click(None, None, page.text, js=f"() => {json.dumps(example)}")
    page.copy_link.click(None, js=COPY_LINK)


def _wire_text(page: Layout, does: Handlers) -> None:
    written = [page.said, page.results, page.facts, page.kept, page.undone]
    # The first result is shown before all of its neighbours are known: a click in that time counts, too.
    page.rewrite.click(does.rewrite, [page.text, *page.asked], written, trigger_mode="always_last", **_HEAVY)
    page.copy.click(None, js=_COPY)
    page.download.click(None, js=_DOWNLOAD)
    buttons = [page.undo, page.give_up]
    start = page.undo.click(_busy, None, buttons, **_LIGHT)
    attack = start.then(
        does.undo,
        [page.kept, page.which],
        page.undone,
        api_visibility="private",
        show_progress="hidden",
        concurrency_id="undo",
        concurrency_limit=2,
    )
    _give_back(attack, buttons)
    page.give_up.click(does.stop, None, None, **_LIGHT)


def _wire_files(page: Layout, does: Handlers, files: FileHandlers) -> None:
    buttons = [page.rewrite_file, page.cancel_file]
    start = page.rewrite_file.click(_busy, None, buttons, **_LIGHT)
    written = start.then(
        files.rewrite,
        [page.file, page.column, *page.asked],
        [page.file_said, page.file_download, page.file],
        **_HEAVY,
    )
    _give_back(written, buttons)
    page.cancel_file.click(does.stop, None, None, **_LIGHT)


def _give_back(work: Any, buttons: list[Any]) -> None:
    """The buttons as they were, also where the queue was full: Gradio calls `then` only after success."""
    work.then(_idle, None, buttons, **_LIGHT)
    work.failure(_idle, None, buttons, **_LIGHT)


def _busy() -> tuple[Any, Any]:
    return gr.update(interactive=False), gr.update(interactive=True)


def _idle() -> tuple[Any, Any]:
    return gr.update(interactive=True), gr.update(interactive=False)
