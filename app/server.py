"""What stands between the network and Gradio: a limit on bodies, and headers that keep the page at home."""

import os

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.limits import ClientLimit
from core.settings import Settings


class BodyLimit:
    """Refuses a request whose body is larger than the limit, declared or not."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what arrives; the request ends where the limit is passed."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.limit:
            await self._refuse(scope, receive, send)
            return
        seen, refused = 0, False

        async def counted() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limit:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def answer(message: Message) -> None:
            if not refused:
                await send(message)

        try:
            await self.app(scope, counted, answer)
        except ClientDisconnect:
            if not refused:
                raise
        if refused:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = f"This request is larger than {self.limit // 1_000_000} MB, the most that is taken here."
        await PlainTextResponse(text, status_code=413)(scope, receive, send)


class ClosedRoutes:
    """Hides routes of Gradio that no page here uses: fewer doors, fewer locks."""

    CLOSED = (
        "/gradio_api/proxy=", "/gradio_api/vibe-", "/gradio_api/undo-vibe", "/gradio_api/dev/",
        "/gradio_api/deep_link", "/gradio_api/process_recording", "/gradio_api/component_server",
        "/gradio_api/custom_component/", "/gradio_api/runs", "/monitoring", "/login", "/logout",
    )  # fmt: skip

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as if there were no such route."""
        if scope["type"] == "http" and scope["path"].startswith(self.CLOSED):
            await PlainTextResponse("Not found.", status_code=404)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class SecurityHeaders:
    """Nothing is loaded from, sent to or framed by another host.

    Gradio's page needs inline scripts and `eval`, so the policy allows these from our own host only.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        # A Space is shown inside a frame of the hub's page.
        ancestors = "" if os.environ.get("SPACE_ID") else "frame-ancestors 'self'; "
        self.policy = (
            "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
            "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
            f"connect-src 'self'; worker-src 'self' blob:; object-src 'none'; {ancestors}base-uri 'self'"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to every answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = self.policy
                headers["x-content-type-options"] = "nosniff"
                headers["referrer-policy"] = "no-referrer"
            await send(message)

        await self.app(scope, receive, with_headers)


def middleware(settings: Settings) -> list[Middleware]:
    """The layers, outermost first."""
    return [
        Middleware(SecurityHeaders),
        Middleware(ClosedRoutes),
        Middleware(ClientLimit, calls_a_minute=settings.calls_per_minute),
        Middleware(BodyLimit, limit=settings.max_upload_mb * 1_000_000),
    ]
