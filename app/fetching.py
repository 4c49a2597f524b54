"""The server fetches nothing from the network on behalf of a caller.

Gradio does so in two places, before any handler is asked who the caller is: where an address is sent in the
place of an uploaded file, and under `/file=https://...`, which hands a page of any public host on to whoever
asks. Nothing here needs either, and a server that holds private text should not be anybody's way out.
"""

from typing import Any, NoReturn

import gradio as gr
from gradio import processing_utils, routes
from starlette.exceptions import HTTPException


def fetch_nothing() -> None:
    """Close both doors, for this process."""
    for name in ("ssrf_protected_download", "async_ssrf_protected_download", "save_url_to_cache"):
        setattr(processing_utils, name, _no_address)
    setattr(routes, "secure_url_stream_response", _no_page)  # noqa: B010


def _no_address(*_: Any, **__: Any) -> NoReturn:
    raise gr.Error("Only files that were uploaded here are read.", print_exception=False)


async def _no_page(*_: Any, **__: Any) -> NoReturn:
    raise HTTPException(403, "Nothing is fetched from other hosts here.")
