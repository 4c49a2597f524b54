"""Corpora: train on text of one's own, and keep what was trained. For the curator."""

from typing import Any

import gradio as gr

from app.identity import Curators
from app.panels.corpora import layout
from app.panels.corpora.handlers import Handlers
from app.panels.corpora.keeping import Keeping
from app.panels.corpora.layout import Layout
from core.studio import Studio

# Light handlers pass the queue by, so that neither a long answer nor a full queue keeps the page waiting.
_LIGHT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
_HEAVY: dict[str, Any] = {"api_visibility": "private", "concurrency_id": "corpora", "concurrency_limit": 2}


def build(demo: gr.Blocks, studio: Studio, curators: Curators, token: gr.BrowserState, tab: gr.Tab) -> None:
    """The panel."""
    page = layout.build()
    does, keeps = Handlers(studio, curators, page), Keeping(studio, curators, page)
    looks = {"fn": does.open_desk, "inputs": [token], "outputs": page.outputs}
    gr.on([demo.load, tab.select, token.change], **looks, **_LIGHT)
    _wire_text(page, does, token)
    _wire_training(page, does, token)
    _wire_keeping(page, keeps, token)


def _wire_text(page: Layout, does: Handlers, token: gr.BrowserState) -> None:
    """Upload, read, plan."""
    text, everything = [token, *page.reading], [token, *page.reading, *page.planning]
    timed = {"fn": does.estimate, "inputs": everything, "outputs": page.outputs}
    told = {"show_progress_on": [page.said], **_HEAVY}
    # Of one's own hand only: what a handler writes must not call a handler.
    declared = [page.reads.each_document.input, page.reads.synthetic.input]
    for event in (
        page.file.upload(does.upload, [token, page.file, *page.reading], page.outputs, **told),
        page.read.click(does.read, text, page.outputs, **told),
        gr.on(declared, does.read_anew, text, page.outputs, **told),
    ):
        event.then(**timed, show_progress="hidden", **_HEAVY)
    page.forget.click(does.forget, [token], page.outputs, **_LIGHT)
    changes = [page.plans.name.blur, page.plans.protocol.input, page.plans.halves.input]
    gr.on(changes, does.guide, everything, page.outputs, show_progress="hidden", **_HEAVY)
    slow = [page.plans.passes.release, page.plans.layers.release, page.plans.whole.input]
    gr.on(slow, **timed, show_progress="hidden", trigger_mode="always_last", **_HEAVY)


def _wire_training(page: Layout, does: Handlers, token: gr.BrowserState) -> None:
    """Train, watch, stop, continue, discard."""
    everything = [token, *page.reading, *page.planning]
    page.train.click(does.train, everything, page.outputs, show_progress_on=[page.refused], **_HEAVY)
    page.timer.tick(does.tick, [token], page.outputs, **_LIGHT)
    page.stop.click(does.stop, [token, page.job], page.outputs, **_LIGHT)
    page.resume.click(does.resume, [token, page.job], page.outputs, show_progress="hidden", **_HEAVY)
    page.discard.click(does.discard, [token, page.job], page.outputs, **_LIGHT)


def _wire_keeping(page: Layout, does: Keeping, token: gr.BrowserState) -> None:
    """Rename and delete."""
    rename = [token, page.ensemble, page.new_name]
    gr.on([page.rename.click, page.new_name.submit], does.rename, rename, page.outputs, **_LIGHT)
    page.delete.click(does.ask, [token, page.ensemble], page.outputs, **_LIGHT)
    page.sure.click(does.delete, [token, page.confirming], page.outputs, **_LIGHT)
    page.keep.click(does.keep, [token], page.outputs, **_LIGHT)
