"""Fifty ways to reach what is not served, tried on every route: no file, no other host, no stack trace."""

import re
import socketserver
import threading
from collections.abc import Iterator
from itertools import product

import httpx
import pytest

from app.server import ClosedRoutes

SECRET = "planted-in-the-data-folder-7f3a91"
TRAVERSALS = [
    "/etc/passwd", "../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "..%252f..%252f..%252fetc%252fpasswd", "....//....//....//etc/passwd",
    "..;/..;/..;/etc/passwd", "..\\..\\..\\etc\\passwd", "..%5c..%5c..%5cetc%5cpasswd",
    "%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd", "..%c0%af..%c0%afetc%c0%afpasswd", "/%2fetc%2fpasswd",
    "//etc/passwd", "file:///etc/passwd", "file:/etc/passwd", "/proc/self/environ", "/proc/self/cmdline",
    "/proc/self/root/etc/passwd", "/dev/fd/../../etc/passwd", "/etc/passwd%00.png", "/etc/passwd%0a",
    "{data}/planted.txt", "{data}/studio.db", "{data}/key", "{data}/../data/planted.txt",
    "{data}/./planted.txt", "{data}//planted.txt", "%2f{data}/planted.txt", "app.py", "./app.py",
    "core/settings.py", "~/.ssh/id_rsa", "${{HOME}}/.bashrc", "/tmp/gradio/../../etc/passwd",
    "/tmp/gradio/%2e%2e/%2e%2e/etc/passwd", "/..%00/etc/passwd", "/etc/passwd?x=.css", "/etc/passwd#.css",
]  # fmt: skip
ELSEWHERE = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/", "http://0:{port}/",
    "http://127.1:{port}/", "http://2130706433:{port}/", "http://0x7f000001:{port}/",
    "http://127.0.0.1.:{port}/", "http://user@127.0.0.1:{port}/", "//127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}\\", "gopher://127.0.0.1:{port}/_x", "ftp://127.0.0.1:{port}/x",
    "HTTP://127.0.0.1:{port}/",
]  # fmt: skip
LEAKS = re.compile(rf"root:[^:]*:0:0|{SECRET}|SQLite format 3|Traceback \(most recent|def build_demo|PATH=/")


class Counting(socketserver.ThreadingTCPServer):
    """A listener that counts who comes; nobody should."""

    allow_reuse_address, daemon_threads = True, True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)
        self.visits = 0

    def process_request(self, request, client_address):
        """Count and hang up."""
        self.visits += 1
        self.shutdown_request(request)


@pytest.fixture
def elsewhere() -> Iterator[Counting]:
    with Counting() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def payloads(data: str, port: int) -> list[str]:
    return [each.format(data=data) for each in TRAVERSALS] + [each.format(port=port) for each in ELSEWHERE]


def filled(route: str, payload: str) -> str:
    """The route with the payload in every parameter."""
    return re.sub(r"\{[^}]+\}", lambda _: payload, route)


def test_nothing_leaks_on_any_route_and_no_other_host_is_asked(served, elsewhere):
    data = served.studio.settings.data_dir
    (data / "planted.txt").write_text(SECRET)
    tried, leaks = 0, []
    streams = ("/mcp", "/upload_progress", "/queue/data", "/heartbeat/{session_hash}")  # of events, no files
    routes = [route for route in served.routes if route == "/" or not route.endswith((*streams, "/"))]
    assert "/gradio_api/file={path_or_url:path}" in routes
    given = payloads(str(data), elsewhere.server_address[1])
    assert len(given) >= 50
    with httpx.Client(timeout=240, follow_redirects=False) as http:
        for route, payload in product(routes, given):
            url = httpx.URL(served.url).copy_with(raw_path=_raw(filled(route, payload)))
            query = dict.fromkeys(("path", "file", "url", "session_hash", "upload_id"), payload)
            params = None if "{" in route else query
            request = http.build_request("GET", url if params is None else served.url + route, params=params)
            tried += 1
            answer = _sent(http, request)
            if LEAKS.search(answer):
                leaks.append((str(request.url), answer[:200]))
    assert leaks == []
    assert tried > 1000
    assert elsewhere.visits == 0


@pytest.mark.parametrize("form", ["path", "url"])
def test_no_handler_reads_a_file_that_was_not_uploaded(served, elsewhere, form):
    data = served.studio.settings.data_dir
    (data / "planted.txt").write_text(SECRET)
    config = httpx.get(f"{served.url}/config").json()
    kinds = {each["id"]: each["type"] for each in config["components"]}
    tried = 0
    with httpx.Client(base_url=served.url, timeout=240) as http:
        for handler in config["dependencies"]:
            files = [at for at, number in enumerate(handler["inputs"]) if kinds[number] == "file"]
            if not files or not handler["backend_fn"]:
                continue
            for payload in payloads(str(data), elsewhere.server_address[1]):
                values: list[object] = [None] * len(handler["inputs"])
                for at in files:
                    values[at] = {form: payload, "path": payload, "meta": {"_type": "gradio.FileData"}}
                body = {"fn_index": handler["id"], "data": values, "session_hash": "abuse"}
                route = "run/predict" if handler["queue"] is False else "queue/join"
                answer = http.post(f"/gradio_api/{route}", json=body)
                assert not LEAKS.search(answer.text)
                tried += 1
    assert tried >= 50
    assert elsewhere.visits == 0


def _raw(path: str) -> bytes:
    """The path as bytes, with what would end a request line escaped and nothing else touched."""
    return re.sub(r"[\s#]", lambda at: f"%{ord(at[0]):02x}", path).encode("utf-8", "replace")


def _sent(http: httpx.Client, request: httpx.Request) -> str:
    """What came back, at most the first part of a stream."""
    try:
        answer = http.send(request, stream=True)
    except (httpx.InvalidURL, httpx.ReadError, httpx.RemoteProtocolError, httpx.UnsupportedProtocol):
        return ""  # refused before it was a request
    try:
        if "event-stream" in answer.headers.get("content-type", ""):
            return ""
        text = b""
        for chunk in answer.iter_bytes():
            text += chunk
            if len(text) > 65_536:
                break
        return text.decode("utf-8", "replace")
    finally:
        answer.close()


@pytest.mark.parametrize("route", ClosedRoutes.CLOSED)
def test_what_no_page_uses_is_closed(served, route):
    answer = httpx.get(f"{served.url}{route}x")
    assert (answer.status_code, answer.text) == (404, "Not found.")
    assert "content-security-policy" in answer.headers
