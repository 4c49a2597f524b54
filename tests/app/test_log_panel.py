"""Formatting of the Log panel, and who may see what."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.components.markup import escape, notice, table
from app.panels.log.tables import events_table, ledger_table, verification_html
from app.panels.log.timeline import timeline_svg
from core.store import Budget, Event, Verification
from tests.app.calling import Caller
from tests.app.conftest import PASSWORD

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
    return httpx.post(f"{url}/gradio_api/run/predict", json=body)


def test_no_handler_called_directly_gives_an_anonymous_caller_another_sessions_events(served):
    served.studio.note(
        session="victim-session", panel="predict", action="victim-action", outcome="done", duration_ms=1.0
    )
    config = httpx.get(f"{served.url}/config").json()
    called = 0
    for dependency in config["dependencies"]:
        for token in ("", "forged", None):
            data = [token, "all time", "any", "any", "", ""][: len(dependency["inputs"])]
            data += [""] * (len(dependency["inputs"]) - len(data))
            answer = call_by_number(served.url, dependency["id"], data)
            called += answer.status_code == 200
            assert "victim" not in answer.text
    assert called > 0


def shown(served, session: str, token: str = "", begins: str = "") -> str:
    answer = Caller(served, session).call("show", [token, "all time", "any", "any", "", begins])
    return json.dumps(answer["data"])


def note(served, session: str, action: str) -> None:
    served.studio.note(session=session, panel="predict", action=action, outcome="done", duration_ms=1.0)


def test_forget_me_deletes_the_own_session_and_no_other(served):
    note(served, "first-visitor", "first-action")
    note(served, "other-visitor", "other-action")
    assert "1 action" in shown(served, "first-visitor")
    assert "1 action was deleted" in Caller(served, "first-visitor").call("forget_me", [])["data"][0]
    assert "first-action" not in shown(served, "first-visitor")
    assert "other-action" in shown(served, "other-visitor")


def test_the_curator_finds_a_session_by_its_beginning_and_a_visitor_cannot(served):
    note(served, "abc-visitor", "abc-action")
    note(served, "abd-visitor", "abd-action")
    token = Caller(served).call("sign_in", [PASSWORD])["data"][0]
    found = shown(served, "curator-session", token, "abc")
    assert "abc-action" in found
    assert "abd-action" not in found
    assert "abc-action" not in shown(served, "abd-visitor", "", "abc")
    assert "abd-action" in shown(served, "abd-visitor", "", "abc")


def test_the_timeline_says_how_many_events_each_panel_had():
    picture = timeline_svg({"predict": [0, 2, 1], "log": [0, 0, 4]}, NOW - timedelta(hours=3), NOW)
    assert "predict: 3" in picture
    assert "log: 4" in picture
    assert "hours from now" in picture
    assert timeline_svg({}, NOW, NOW) == ""
