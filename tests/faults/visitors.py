"""Scripted visitors: what they ask of every panel over HTTP, and what they saw."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

LENGTH = 6
CORPORA = ("notes", "ward")  # a synthetic and a private one
TEXT = "Room 145572 is ready. My bank security code is 450. It rains."
_LOST = (httpx.TransportError, httpx.HTTPStatusError)


@dataclass
class Seen:
    """What all visitors saw together."""

    seconds: dict[str, list[float]] = field(default_factory=dict)  # of whole answers, by what was asked
    debits: dict[str, list[int]] = field(default_factory=dict)  # the count of queries told with each token
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Refused(Exception):
    """A sentence instead of an answer."""


class Visitor:
    """One person or program, who goes to where the studio is at the moment."""

    def __init__(self, number: int, where: Callable[[], str], seen: Seen) -> None:
        self._where, self._seen, self._random = where, seen, random.Random(number)
        self._session = f"visitor-{number}"

    def visit(self, over: threading.Event) -> None:
        """One thing after another until it is over."""
        does = [self.generate, self.generate, self.sanitize, self.detect, self.look, self.read_log, self.plan]
        while not over.is_set():
            act = self._random.choice(does)
            begun = time.perf_counter()
            try:
                act()
                outcome = "answered"
            except Refused as refused:
                outcome = "full" if "full" in str(refused).lower() else "refused"
                if outcome == "refused":
                    self._wrong(f"{act.__name__}: {refused}")
                over.wait(self._random.random())
            except _LOST as error:
                outcome = "cut off"
                if isinstance(error, httpx.HTTPStatusError) and error.response.status_code != 503:
                    self._wrong(f"{act.__name__}: {error!r} {error.response.text[:200]}")
                over.wait(1.0)
            except Exception as error:  # a visitor who is gone would be missed by nobody
                outcome = "wrong"
                self._wrong(f"{act.__name__}: {error!r}")
            with self._seen.lock:
                self._seen.outcomes[outcome] += 1
                if outcome == "answered":
                    self._seen.seconds.setdefault(act.__name__, []).append(time.perf_counter() - begun)

    def _wrong(self, what: str) -> None:
        with self._seen.lock:
            self._seen.wrong.append(what)

    def generate(self) -> None:
        """Predict: every token that arrives tells which query of the budget it was."""
        corpus = self._random.choice(CORPORA)
        prompt = f"The night nurse {self._random.randrange(1000)}"
        told = 0
        for ((_, account),) in self._answers("generate", prompt=prompt, length=LENGTH, corpus=corpus):
            if account["tokens"] > told and not account["public"]:
                told = account["tokens"]
                with self._seen.lock:
                    self._seen.debits.setdefault(corpus, []).append(account["used"])

    def sanitize(self) -> None:
        """Sanitize: the number is gone."""
        (answer,) = self._last("sanitize", text=TEXT)
        assert "145572" not in answer["text"], answer["text"]

    def detect(self) -> None:
        """Detect: every sentence is there."""
        (answer,) = self._last("detect", text=TEXT)
        assert len(answer["sentences"]) == 3

    def look(self) -> None:
        """The page itself, and what the corpora cost."""
        httpx.get(self._where()).raise_for_status()
        (budget,) = self._last("budget", corpus="ward")
        assert "remaining" not in budget
        self._last("quote", corpus=self._random.choice(CORPORA), length=LENGTH)

    def read_log(self) -> None:
        """The Log as the page opens it, past the queue."""
        config = httpx.get(f"{self._where()}/config").raise_for_status().json()
        handler = next(each["id"] for each in config["dependencies"] if each["api_name"] == "show")
        data = ["", "the last day", "any", "any", "", ""]
        body = {"fn_index": handler, "data": data, "session_hash": self._session}
        answer = httpx.post(f"{self._where()}/gradio_api/run/predict", json=body).raise_for_status()
        assert "notice" in answer.text or "table" in answer.text

    def plan(self) -> None:
        """Attack: how long one would take, and what there was."""
        self._last("attack_estimate", attack="audit", targets="strict", amount=100)
        self._last("attack_runs")

    def _last(self, name: str, **given: Any) -> list[Any]:
        answer: list[Any] = []
        for answer in self._answers(name, **given):  # noqa: B007 - the last one counts
            pass
        return answer

    def _answers(self, name: str, **given: Any) -> Iterator[list[Any]]:
        """Every answer of an endpoint as it comes, as `curl` would see it."""
        address = f"{self._where()}/gradio_api/call/v2/{name}"
        event = httpx.post(address, json=given).raise_for_status().json()["event_id"]
        kind, complete = "", False
        with httpx.stream("GET", f"{address}/{event}") as stream:
            stream.raise_for_status()
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: ") and kind == "error":
                    raise Refused(line.removeprefix("data: "))
                elif line.startswith("data: ") and kind in ("generating", "complete"):
                    yield json.loads(line.removeprefix("data: "))
                    complete = kind == "complete"
        if not complete:
            raise httpx.RemoteProtocolError("the stream ended in mid-answer")
