"""The curator's door, at the foot of the page."""

from typing import Any

import gradio as gr

from app.components.markup import notice
from app.identity import Curators
from core.errors import StudioError


def build(demo: gr.Blocks, curators: Curators, token: gr.BrowserState) -> None:
    """Sign in and out; the token stays in this browser and is checked by every handler."""
    with gr.Accordion("Curator", open=False, elem_id="curator"):
        gr.HTML(
            '<p class="lead">The curator holds the private text and sees exact costs and all sessions.</p>'
        )
        with gr.Row(elem_classes="aligned-row"):
            password = gr.Textbox(label="Password", type="password", max_lines=1, scale=0, min_width=320)
            enter = gr.Button("Sign in", variant="primary", scale=0, min_width=120)
            leave = gr.Button("Sign out", visible=False, scale=0, min_width=120)
        said = gr.HTML()
    door = [password, enter, leave]

    def sign_in(password: str) -> list[Any]:
        try:
            token = curators.sign_in(password)
        except StudioError as error:
            return ["", notice(str(error), kind="problem"), *_door(False)]
        return [token, notice("Signed in.", kind="done"), *_door(True)]

    def sign_out(token: str) -> list[Any]:
        curators.sign_out(token)
        return ["", notice("Signed out."), *_door(False)]

    def look(token: str) -> list[Any]:
        return _door(curators.knows(token))

    # Past the queue: the curator comes in also where many answers wait.
    past: dict[str, Any] = {"queue": False, "api_visibility": "private"}
    gr.on([enter.click, password.submit], sign_in, password, [token, said, *door], **past)
    leave.click(sign_out, token, [token, said, *door], **past)
    demo.load(look, token, door, show_progress="hidden", **past)


def _door(inside: bool) -> list[Any]:
    """An empty password and the way in, or the way out."""
    return [
        gr.update(visible=not inside, value=""),
        gr.update(visible=not inside),
        gr.update(visible=inside),
    ]
