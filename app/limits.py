"""How often one client may call: a bucket each, so that a loop somewhere does not starve the others."""

import ipaddress
import os
import threading
import time
from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_CALLS = ("/queue/join", "/run/", "/call/", "/upload", "/mcp")
_CLIENTS = 10_000  # remembered at most; the one not seen longest is forgotten first


class ClientLimit:
    """Refuses a client's calls beyond so many a minute, with a sentence and the seconds to wait.

    A client is an address. Behind a proxy on this machine, or the hub's, it is the address that the proxy
    saw; anything farther left in the header is the caller's own word and is not believed. Who sits at this
    machine is not limited.
    """

    def __init__(self, app: ASGIApp, calls_a_minute: int) -> None:
        self.app = app
        self._rate, self._most = calls_a_minute / 60.0, float(calls_a_minute)
        self._behind_hub = bool(os.environ.get("SPACE_ID"))
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # (calls left, when)
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a call pass or say when to come back."""
        if scope["type"] == "http" and scope["method"] == "POST" and self._most and _is_call(scope["path"]):
            wait = self._wait(self._client(scope))
            if wait > 0.0:
                await _refuse(wait)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _client(self, scope: Scope) -> str:
        address = scope["client"][0] if scope.get("client") else ""
        if self._behind_hub or _is_loopback(address):
            forwarded = Headers(scope=scope).get("x-forwarded-for", "").split(",")[-1].strip()
            return forwarded or ("" if _is_loopback(address) else address)
        return address

    def _wait(self, client: str) -> float:
        """Seconds until this client may call again; 0 where it may now, and then the call is counted."""
        if not client:
            return 0.0
        now = time.monotonic()
        with self._lock:
            left, then = self._buckets.pop(client, (self._most, now))
            left = min(self._most, left + (now - then) * self._rate)
            allowed = left >= 1.0
            self._buckets[client] = (left - 1.0 if allowed else left), now
            while len(self._buckets) > _CLIENTS:
                self._buckets.popitem(last=False)
            return 0.0 if allowed else (1.0 - left) / self._rate


def _is_call(path: str) -> bool:
    return "/gradio_api/" in path and any(part in path for part in _CALLS)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _refuse(wait: float) -> JSONResponse:
    seconds = max(1, round(wait + 0.5))
    sentence = f"Too many calls from your address. Wait {seconds} s and try again."
    return JSONResponse(
        {"detail": sentence, "code": "too-many-calls"},
        status_code=429,
        headers={"retry-after": str(seconds)},
    )
