"""The line at the top of every page, and below it how far the models are while they arrive."""

from typing import Any

import gradio as gr

from app.components import tour
from app.components.markup import notice
from app.components.progress import progress_html
from core.arrival import Arrival
from core.studio import Studio

_LOOK_SECONDS = 1.0


def build(demo: gr.Blocks, studio: Studio) -> None:
    """Name and purpose, and the arrival of the models for whoever opens the page before they are there."""
    gr.HTML(
        '<header id="header"><h1>SubMix Studio</h1>'
        "<p>Language models that learned from private text, without giving it away.</p>"
        f"{tour.BUTTON}</header>",
        elem_id="studio-header",
    )
    arriving = gr.HTML(elem_id="arriving", visible=False)
    clock = gr.Timer(_LOOK_SECONDS, active=False)

    def look() -> tuple[Any, Any]:
        shown = arriving_html(studio.arrival, ready=studio.ready)
        return gr.update(value=shown, visible=bool(shown)), gr.Timer(active=bool(shown))

    quiet: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
    demo.load(look, None, [arriving, clock], **quiet)
    clock.tick(look, None, [arriving, clock], **quiet)


def arriving_html(arrival: Arrival, *, ready: bool) -> str:
    """What is under way, nothing once all is there, or why it did not come."""
    step = arrival.step
    if step is not None:
        return progress_html(step.share, f"{step.doing}. Look around meanwhile", step.seconds_left)
    if arrival.problem and not ready:
        return notice(arrival.problem, kind="problem")
    return ""
