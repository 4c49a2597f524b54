"""A refusal as the API gives it: the sentence for people, and a code that stays the same for programs."""

import gradio as gr

from core.errors import StudioError


def refusal(error: StudioError) -> gr.Error:
    """The error to raise from an endpoint; its title is the code."""
    return gr.Error(str(error), title=error.code, print_exception=False)
