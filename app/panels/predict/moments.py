"""What the page does by itself, at once and without asking the server: the buttons while an answer is drawn.

A click that waits for a round trip can be made twice, and the server may be too busy to answer it.
"""

import json
from typing import Any

import gradio as gr

from app.components.markup import notice

OPENING = '<p class="verdict-room">Press Generate. What came out, and what it cost, will stand here.</p>'
WAITING = "Waiting for the first token: other answers may be ahead of this one."
BUSY = "This answer did not begin: too many are waiting here, or the connection broke. Try again in a moment."
STOPPED = "Stopped. What was drawn until then is paid for; nothing is given back."


def drawing(tokens: int, most: int) -> str:
    """How far the answers are, where the verdict will stand. No status: a reader would hear every token."""
    return f'<p class="verdict-room">Drawing the answers: token {tokens:,} of at most {most:,}.</p>'


_ANSWERING: list[Any] = [gr.update(interactive=False), gr.update(interactive=True)]  # Generate, Stop
_READY: list[Any] = [gr.update(interactive=True), gr.update(interactive=False)]


def _gives(values: list[Any]) -> str:
    return json.dumps(values).replace("</", "<\\/")


_BEGINS = _gives([*_ANSWERING, notice(WAITING, kind="late")])
_STOPS = _gives([*_READY, notice(STOPPED)])
_REFUSES = _gives([*_READY, notice(BUSY, kind="problem")])

# Each sets Generate, Stop and the verdict; `DONE` leaves the verdict to the answer.
BEGUN = f"() => {{ window.studioStopped = false; return {_BEGINS} }}"
DONE = f"() => {_gives(_READY)}"
# Gradio reports an answer that was stopped like one that was refused, so Stop leaves a mark.
STOP = "() => { window.studioStopped = true }"
ENDED = f"() => window.studioStopped ? {_STOPS} : {_REFUSES}"
