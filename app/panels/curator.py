"""The curator's door, at the foot of the page."""

from typing import Any

import gradio as gr

from app.components.markup import notice
from app.identity import Curators
from core.errors import StudioError


def build(curators: Curators, token: gr.BrowserState) -> None:
    """Sign in and out; the token stays in this browser and is checked by every handler."""
    with gr.Accordion("Curator", open=False):
        gr.HTML(
            '<p class="lead">The curator holds the private text and sees exact costs and all sessions.</p>'
        )
        with gr.Row():
            password = gr.Textbox(label="Password", type="password", max_lines=1, scale=3)
            enter = gr.Button("Sign in", scale=1, min_width=120)
            leave = gr.Button("Sign out", scale=1, min_width=120)
        said = gr.HTML()

    def sign_in(password: str) -> tuple[str, str, str]:
        try:
            return curators.sign_in(password), "", notice("Signed in.", kind="done")
        except StudioError as error:
            return "", "", notice(str(error), kind="problem")

    def sign_out(token: str) -> tuple[str, str]:
        curators.sign_out(token)
        return "", notice("Signed out.")

    # Past the queue: the curator comes in also where many answers wait.
    past: dict[str, Any] = {"queue": False, "api_visibility": "private"}
    gr.on([enter.click, password.submit], sign_in, password, [token, password, said], **past)
    leave.click(sign_out, token, [token, said], **past)
