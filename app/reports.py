"""Reports behind a link: read-only pages outside Gradio, for whoever has the link, with a policy of its own.

The link is a secret: the page tells no other site where it came from, is kept by no cache and by no search
engine. Nothing on it is loaded or run.
"""

import asyncio

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from core.attack.kept.links import run_behind
from core.attack.kept.report import POLICY, report_html, report_json
from core.errors import StudioError
from core.settings import Settings

PREFIX = "/report/"
_HEADERS = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-robots-tag": "noindex, nofollow",
}


class SharedReports:
    """Answers GET and HEAD below `/report/`; everything else goes on to the application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One page for one link."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(PREFIX):
            await self.app(scope, receive, send)
            return
        answer = await asyncio.to_thread(self._answer, scope["method"], path.removeprefix(PREFIX))
        answer.headers.update(_HEADERS)
        await answer(scope, receive, send)

    def _answer(self, method: str, name: str) -> Response:
        if method not in ("GET", "HEAD"):
            return PlainTextResponse("A report can only be read.", status_code=405, headers={"allow": "GET"})
        as_json = name.endswith(".json")
        try:
            run = run_behind(self.settings, name.removesuffix(".json"))
        except StudioError as error:
            return PlainTextResponse(str(error), status_code=404)
        if as_json:
            return Response(report_json(run), media_type="application/json")
        return HTMLResponse(report_html(run))
