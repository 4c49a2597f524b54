"""The line at the top of every page."""

import gradio as gr


def build() -> None:
    """Name and purpose."""
    gr.HTML(
        '<header id="header"><h1>SubMix Studio</h1>'
        "<p>Language models that learned from private text, without giving it away.</p></header>",
        elem_id="studio-header",
    )
