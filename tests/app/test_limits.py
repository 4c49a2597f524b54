"""One client's calls are limited, another's are not, and nobody gets out of it by a header."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.limits import ClientLimit

CALL = "/gradio_api/queue/join"


def client(address: str, calls: int = 3) -> TestClient:
    routes = [
        Route(path, lambda request: PlainTextResponse("ok"), methods=["GET", "POST"]) for path in (CALL, "/")
    ]
    app = Starlette(routes=routes, middleware=[Middleware(ClientLimit, calls_a_minute=calls)])
    return TestClient(app, client=(address, 50_000))


def codes(caller: TestClient, times: int, forwarded: str | None = None) -> list[int]:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return [caller.post(CALL, headers=headers).status_code for _ in range(times)]


def test_calls_beyond_the_limit_get_a_sentence_a_code_and_a_time():
    caller = client("203.0.113.5")
    assert codes(caller, 4) == [200, 200, 200, 429]
    answer = caller.post(CALL)
    assert answer.json()["code"] == "too-many-calls"
    assert answer.json()["detail"].startswith("Too many calls from your address. Wait ")
    assert 1 <= int(answer.headers["retry-after"]) <= 21
    assert caller.get("/").status_code == 200  # the page itself still opens


def test_calls_come_back_with_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.limits.time.monotonic", lambda: now[0])
    caller = client("203.0.113.5")
    assert codes(caller, 4)[-1] == 429
    now[0] += 20.0
    assert codes(caller, 2) == [200, 429]


@pytest.mark.parametrize("trick", ["198.51.100.1", "127.0.0.1", "a, b", ""])
def test_a_stranger_does_not_get_out_of_it_by_a_header(trick):
    assert codes(client("203.0.113.5"), 4, trick)[-1] == 429


def test_behind_a_proxy_of_this_machine_the_last_address_counts():
    caller = client("127.0.0.1")
    assert codes(caller, 4, "6.6.6.6, 203.0.113.5")[-1] == 429
    assert codes(caller, 1, "7.7.7.7, 203.0.113.5") == [429]
    assert codes(caller, 1, "203.0.113.5, 203.0.113.9") == [200]


def test_the_hub_s_proxy_is_believed_where_the_hub_is(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    caller = client("10.0.0.1")
    assert codes(caller, 4, "203.0.113.5")[-1] == 429
    assert codes(caller, 1, "203.0.113.6") == [200]


def test_who_sits_at_this_machine_is_not_limited_and_zero_means_no_limit():
    assert set(codes(client("127.0.0.1"), 9)) == {200}
    assert set(codes(client("203.0.113.5", calls=0), 9)) == {200}
