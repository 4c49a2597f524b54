"""Log: what was done, what it cost, and a ledger that anyone may verify."""

from typing import Any

import gradio as gr

from app.address import COPY_LINK, ChoiceField, Field, remember
from app.identity import Curators
from app.panels.log.handlers import ANY, PERIODS, Handlers
from core.studio import Studio

OUTCOMES = ["done", "stopped", "refused"]
PANELS = ["predict", "corpora", "sanitize", "detect", "attack", "log"]
_FOLLOW_SECONDS = 2.0
_CLICK_DOWNLOAD = "() => document.querySelector('#log-download').click()"
_QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def build(studio: Studio, curators: Curators, token: gr.BrowserState, tab: gr.Tab) -> list[Field]:
    """The panel; returns the controls whose values are kept in the address, which no text is among."""
    does = Handlers(studio, curators)
    gr.HTML(
        '<p class="lead">What this server remembers: every action with its time, cost and outcome, and the '
        "ledger of privacy budgets. You see your own session; the curator sees all of them.</p>"
    )
    with gr.Row():
        period = gr.Dropdown(list(PERIODS), value="the last day", label="From", scale=1)
        panel = gr.Dropdown([ANY, *PANELS], value=ANY, label="Panel", scale=1)
        outcome = gr.Dropdown([ANY, *OUTCOMES], value=ANY, label="Outcome", scale=1)
        action = gr.Textbox(label="Action contains", max_lines=1, scale=1)
        session = gr.Textbox(label="Session begins with", max_lines=1, scale=1, visible=False)
    with gr.Row(elem_id="log-go"):
        refresh = gr.Button("Refresh", variant="primary", size="md", scale=0, min_width=110)
        csv = gr.Button("Export CSV", size="md", scale=0, min_width=120)
        jsonl = gr.Button("Export JSONL", size="md", scale=0, min_width=130)
        link = gr.Button("Copy link", size="md", scale=0, min_width=110)
        follow = gr.Checkbox(label="Follow live", container=False, elem_id="log-follow", min_width=120)
        # A download button fetches what it held before the click, so a hidden one is filled, then clicked.
        download = gr.DownloadButton("Download", visible="hidden", elem_id="log-download")
    timeline = gr.HTML(elem_id="log-timeline")
    events = gr.HTML(elem_id="log-events")
    sessions = gr.HTML(elem_id="log-sessions")
    remembered, forgotten = _remembered(does)
    gr.HTML("<h2>Ledger</h2>")
    ledger = gr.HTML(elem_id="log-ledger")
    with gr.Row():
        verify = gr.Button("Verify the ledger", scale=0, min_width=180, size="md")
    verdict = gr.HTML(elem_id="log-verdict")
    clock = gr.Timer(_FOLLOW_SECONDS, active=False)

    shown = [session, timeline, events, sessions, remembered, ledger]
    filters = [token, period, panel, outcome, action, session]
    gr.on(
        [
            tab.select,
            refresh.click,
            period.change,
            panel.change,
            outcome.change,
            action.submit,
            session.submit,
            token.change,
            clock.tick,
        ],
        does.show,
        filters,
        shown,
        trigger_mode="always_last",  # a filter changed while a look is under way is looked at next
        queue=False,  # a full queue of answers does not keep the log closed
        **_QUIET,
    )
    follow.change(lambda on: gr.Timer(active=on), follow, clock, queue=False, **_QUIET)
    forgotten.then(does.show, filters, shown, **_QUIET)
    for button, write in ((csv, does.export("csv")), (jsonl, does.export("jsonl"))):
        written = button.click(write, filters, download, api_visibility="private")
        written.success(fn=None, js=_CLICK_DOWNLOAD)
    verify.click(does.verify, [token], verdict, api_visibility="private")
    link.click(None, js=COPY_LINK)
    fields: list[Field] = [
        ChoiceField("log_from", period, lambda: PERIODS),
        ChoiceField("log_panel", panel, lambda: [ANY, *PANELS]),
        ChoiceField("log_outcome", outcome, lambda: [ANY, *OUTCOMES]),
    ]
    for field in fields:
        remember(field)
    return fields


def _remembered(does: Handlers) -> tuple[gr.HTML, Any]:
    """What is remembered of the visitor, and the two clicks that delete it, with the event of the second."""
    gr.HTML("<h2>What this page remembers of you</h2>")
    remembered = gr.HTML(elem_id="log-remembered")
    with gr.Row():
        ask = gr.Button("Forget me", size="md", scale=0, min_width=120, elem_id="forget-ask")
        sure = gr.Button(
            "Delete it for good",
            variant="stop",
            size="md",
            visible=False,
            scale=0,
            min_width=180,
            elem_id="forget",
        )
        keep = gr.Button("Keep it", size="md", visible=False, scale=0, min_width=100, elem_id="forget-not")
    said = gr.HTML(elem_id="log-forgotten")
    buttons = [ask, sure, keep]

    def asked() -> list[Any]:
        return [gr.update(visible=False), gr.update(visible=True), gr.update(visible=True)]

    def answered() -> list[Any]:
        return [gr.update(visible=True), gr.update(visible=False), gr.update(visible=False)]

    ask.click(asked, None, buttons, queue=False, **_QUIET)
    keep.click(answered, None, buttons, queue=False, **_QUIET)
    forgotten = sure.click(does.forget_me, None, said, **_QUIET)
    forgotten.then(answered, None, buttons, queue=False, **_QUIET)
    return remembered, forgotten
