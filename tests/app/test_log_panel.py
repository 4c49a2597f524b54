"""Formatting of the Log panel, and who may see what."""

from datetime import UTC, datetime

import httpx
import pytest

from app.components.markup import escape, notice, table
from app.panels.log import events_table, ledger_table, verification_html
from core.store import Budget, Event, Verification

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def event(**changes) -> Event:
    values = {
        "id": 1, "session": "abcdefghijk", "panel": "predict", "action": "generate", "started": NOW,
        "duration_ms": 1234.5, "cost": 0.0625, "outcome": "done", "corpus": "", "text_hash": "f" * 64,
        "text_length": 12, "text": None,
    }  # fmt: skip
    return Event(**{**values, **changes})


def budget(**changes) -> Budget:
    values = {
        "corpus": "ward", "parts": 2, "epsilon": 2.0, "alpha": 2.0, "queries": 100, "protocol": "strict",
        "synthetic": False, "opened": NOW, "remaining": (1.25, 0.75), "used": 3, "stopped": False,
    }  # fmt: skip
    return Budget(**{**values, **changes})


def test_a_cost_is_for_the_curator():
    assert "0.0625" in events_table([event()], curator=True)
    assert "0.0625" not in events_table([event()], curator=False)


def test_a_remainder_is_for_the_curator_or_a_synthetic_corpus():
    assert "0.7500" in ledger_table([budget()], curator=True)
    assert "0.7500" in ledger_table([budget(synthetic=True)], curator=False)
    hidden = ledger_table([budget()], curator=False)
    assert "0.75" not in hidden
    assert "3 of 100" in hidden


def test_text_that_was_not_kept_is_shown_as_length_and_hash():
    assert "12 characters, ffffffffff" in events_table([event()], curator=True)


def test_every_break_of_the_ledger_is_told_to_the_curator():
    broken = Verification(entries=3, budgets=1, head="", breaks=("Entry 2 is wrong.", "Entry 3 is wrong."))
    assert "Entry 3" in verification_html(broken, curator=True)
    assert "whole: 1 entry" in verification_html(Verification(1, 0, "", ()), curator=False)


@pytest.mark.parametrize(
    "payload",
    [
        "<img src=x onerror=alert(1)>",
        "${alert(1)}",
        "{{#each x}}",
        "`",
        "\\u003cscript>",
        "'\"><svg onload=a>",
    ],
)
def test_nothing_in_a_cell_can_run(payload):
    for made in (escape(payload), notice(payload), table("c", ["h"], [[payload]]), table(payload, [], [])):
        assert payload not in made
        assert not any(sign in made for sign in ("${", "{{", "`", "<img"))


def call_by_number(url: str, number: int, data: list) -> httpx.Response:
    """What a script would do: call a handler by its number, documented or not."""
    body = {"fn_index": number, "data": data, "session_hash": "attacker"}
    return httpx.post(f"{url}/gradio_api/run/predict", json=body, timeout=30)


def test_no_handler_called_directly_gives_an_anonymous_caller_another_sessions_events(served):
    served.studio.note(
        session="victim-session", panel="predict", action="victim-action", outcome="done", duration_ms=1.0
    )
    config = httpx.get(f"{served.url}/config").json()
    called = 0
    for dependency in config["dependencies"]:
        for token in ("", "forged", None):
            data = [token, "all time", "any", "any", ""][: len(dependency["inputs"])]
            data += [""] * (len(dependency["inputs"]) - len(data))
            answer = call_by_number(served.url, dependency["id"], data)
            called += answer.status_code == 200
            assert "victim" not in answer.text
    assert called > 0
