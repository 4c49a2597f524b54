"""API: every endpoint with what it takes and a call to copy, for the address that the reader sees."""

from typing import Any

import gradio as gr
from gradio.utils import get_function_description

from app.address import COPY_LINK
from app.panels.api.look import endpoints_html
from core.studio import Studio


def build(demo: gr.Blocks, studio: Studio, tab: gr.Tab) -> None:
    """The panel; it is written when it is opened, for then all endpoints are known."""
    page = gr.HTML(elem_id="api-endpoints")
    with gr.Row(elem_classes="examples-row"):
        gr.Button("Copy link to this panel", size="sm").click(None, js=COPY_LINK)

    def show(request: gr.Request) -> str:
        info: dict[str, Any] = demo.get_api_info()  # type: ignore[assignment]
        address = str(request.request.base_url if request.request else "").rstrip("/")
        said = {
            str(each.api_name): get_function_description(each.fn)[1] for each in demo.fns.values() if each.fn
        }
        return endpoints_html(info["named_endpoints"], said, address, studio.settings.calls_per_minute)

    tab.select(show, None, page, queue=False, api_visibility="private", show_progress="hidden")
