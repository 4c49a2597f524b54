"""What the server still holds when calls are over: nothing of them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio.routes import App

from core.memory import POOLS
from core.settings import Settings
from tests.app.calling import Caller
from tests.ensembles import make_ensemble
from tests.serving import ROOT, Served, serve

WAITING = 2  # calls that may wait; four more are in the making
ROUNDS, VISITORS = 12, 16
GLIBC = "glibc" in str(getattr(os, "confstr", lambda name: "")("CS_GNU_LIBC_VERSION"))


@pytest.fixture(scope="module")
def small(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose queue is soon full."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        port=0,
        queue_size=WAITING,
    )
    make_ensemble(settings, "notes", synthetic=True, queries=5000)
    with serve(settings) as running:
        running.studio.served("notes")
        yield running


@pytest.fixture
def app(small: Served) -> App:
    assert small.app is not None
    return small.app


def test_nothing_remains_of_calls_that_were_answered_and_of_calls_that_were_refused(small, app):
    number = Caller(small).handlers["generate"]["id"]
    answered = refused = 0
    with httpx.Client(base_url=f"{small.url}/gradio_api", timeout=240) as http:
        for turn in range(ROUNDS):
            with small.studio.turns:  # nobody can draw a token meanwhile, so the queue fills up
                sessions = [name for name in map(str, range(VISITORS)) if joins(http, number, name)]
            refused += VISITORS - len(sessions)
            for name in sessions:
                assert completed(http, name)["success"], turn
                answered += 1
    assert answered >= ROUNDS
    assert refused > 100
    queue = app.get_blocks()._queue
    wait_until(lambda: not queue.event_ids_to_events)  # the last one is forgotten after it was answered
    assert len(queue.event_analytics) <= 1
    assert not any(queue.pending_event_ids_session.values())
    assert not app.iterators
    assert not any(visit.config_values for visit in app.state_holder.session_data.values())


def test_what_a_visitor_typed_is_not_kept(small, app):
    Caller(small, session="somebody").call("generate", asked("A word that nobody else has typed: quokka"))
    visit = app.state_holder.session_data["somebody"]
    assert "quokka" not in repr(vars(visit))


def test_no_more_visitors_are_remembered_than_there_is_room_for(app):
    assert app.state_holder.capacity * 30_000 < 100e6  # a visitor takes 30 kB


@pytest.mark.skipif(not GLIBC, reason="other C libraries have no such pools")
def test_the_threads_of_the_server_share_few_pools_of_memory(tmp_path):
    before, after = pools(tmp_path)
    assert after > max(before, POOLS), "threads share pools without our doing: nothing is shown here"
    before, after = pools(tmp_path, "served")
    assert after <= max(before, POOLS)


def asked(prompt: str = "The night nurse") -> list[Any]:
    return [prompt, 1.0, 0, 1.0, 2, "notes", ""]


def joins(http: httpx.Client, number: int, session: str) -> bool:
    """Whether a call was taken into the queue; a full one says so."""
    answer = http.post("/queue/join", json={"fn_index": number, "data": asked(), "session_hash": session})
    assert answer.status_code in (200, 503), answer.text
    return answer.status_code == 200


def completed(http: httpx.Client, session: str) -> dict[str, Any]:
    """The answer; the stream is read to its end, as a browser does, for a call is over only then."""
    answer: dict[str, Any] = {}
    with http.stream("GET", "/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            message = json.loads(line.removeprefix("data:")) if line else {}
            if message.get("msg") == "process_completed":
                answer = message
    assert answer, "the stream ended without an answer"
    return answer


def wait_until(condition: Any) -> None:
    while not condition():  # the test's own limit of time ends this
        time.sleep(0.01)


def pools(folder: Path, *how: str) -> tuple[int, int]:
    """The pools of memory before and after many threads asked for some, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    command = [sys.executable, "-m", "tests.app.pools", str(folder), *how]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    before, after = said.stdout.split()[-2:]
    return int(before), int(after)
