"""Attack over HTTP: who may attack and read what, links that open and close, one attack at a time."""

import json
import re
import shutil
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.identity import Curators
from app.panels.attack import choosing
from app.panels.attack.choosing import Choosing
from app.panels.attack.handlers import Handlers, asked_from
from app.panels.attack.look import (
    EMPTY,
    estimate_html,
    links_html,
    outcome_html,
    progress_html,
    run_html,
    runs_html,
)
from core.attack.conduct import one_at_a_time
from core.attack.experiments import secrets
from core.attack.extraction import ask_for_secrets
from core.attack.kept.links import make_link, revoke_link
from core.attack.kept.runs import BarData, Finding, Outcome, Picture, Run
from core.attack.kept.storage import list_runs, save_run
from core.attack.watch import Reached
from core.errors import InputError
from core.studio import Studio
from tests.app.calling import Caller
from tests.app.conftest import PASSWORD
from tests.app.payloads import PAYLOADS
from tests.ensembles import make_ensemble

SECRETS = "The night nurse => 12\nMy number is => 77"


def a_run(**changes) -> Run:
    outcome = Outcome(
        (Finding("extraction", "Strict", "secrets that came", 0.0, 0.0, 0.26, "share", 0, 10),),
        (Picture("Secrets", "share of secrets", (BarData("Strict", 0.0, 0.0, 0.26),), 1.0),),
        ("With no protection the attacker reads 9 of 10 secrets.",),
        ("Only tokens were seen.",),
    )
    values: dict[str, Any] = {
        "id": "", "attack": "secrets", "subject": "notes", "synthetic": True, "seed": 3, "outcome": outcome,
        "created": "2026-01-02T03:04:05+00:00", "seconds": 12.0, "settings": {"temperature": "0.5"},
    }  # fmt: skip
    return Run(**values | changes)


@pytest.fixture
def visitor(served) -> Caller:
    return Caller(served, "visitor")


@pytest.fixture
def curator(served) -> Caller:
    caller = Caller(served, "curator")
    caller.token = caller.call("sign_in", [PASSWORD])["data"][0]
    return caller


@pytest.fixture
def client(served) -> Client:
    return Client(served.url, verbose=False)


def attack(client: Client, **asked):
    return client.submit(api_name="/attack", **asked).result()


def seeing(caller: Caller) -> Caller:
    """A caller whose page has listed the stored runs: what is not in the list cannot be chosen."""
    caller.asks("list_kept")
    return caller


def values(**changes) -> list:
    usual = {
        "attack": "secrets", "subject": "notes", "targets": ["whole"], "amount": 2, "epsilon": 2, "seed": 0,
        "template": "", "copies": 8, "spread": False, "text": SECRETS, "others": "",
    }  # fmt: skip
    return list((usual | changes).values())


def test_an_attack_over_the_api_ends_with_its_run_which_is_stored_and_logged(served, client):
    run = attack(client, subject="notes", targets="whole,strict", text=SECRETS)
    assert run["status"] == "finished"
    assert run["outcome"]["verdict"][0].startswith("With no protection the attacker reads")
    assert "2 of 2" not in run["outcome"]["verdict"][1]
    listed = client.predict(api_name="/attack_runs")
    assert listed[0]["id"] == run["id"]
    assert client.predict(run["id"], api_name="/attack_report") == run
    page = client.predict(run["id"], "html", api_name="/attack_report")["html"]
    assert page.startswith("<!doctype html>")
    event = served.studio.store.log.events(panel="attack")[0]
    assert (event.action, event.outcome, event.corpus) == ("secrets", "done", "notes")
    assert "nurse" not in str(event)


def test_a_progress_comes_before_the_run(client):
    job = client.submit(attack="stop", amount=30, api_name="/attack")
    job.result()
    told = [each for each in job.outputs() if "share" in each]
    assert told == sorted(told, key=lambda each: each["share"])
    assert job.outputs()[-1]["attack"] == "stop"


def test_the_time_can_be_asked_for(client):
    asked = {"attack": "audit", "targets": "strict", "api_name": "/attack_estimate"}
    assert client.predict(amount=4000, **asked) > client.predict(amount=400, **asked) > 0


def test_an_estimate_of_an_attack_that_is_no_longer_chosen_says_nothing(served, visitor):
    served.studio.warm_up().join()
    audit = values(attack="audit", targets=["strict"], amount=40)
    assert "Takes" in visitor.asks("time_attack", *audit)["attack-estimate"]
    visitor.call("choose_attack", ["stop", "", [], None, None, True])
    assert "Takes" not in str(visitor.asks("time_attack", *audit))
    stop = values(attack="stop", targets=[], amount=4)
    assert "falls silent" in visitor.asks("time_attack", *stop)["attack-estimate"]


def test_an_estimate_that_still_stands_is_said_at_once_and_an_old_one_is_tried_again(served, monkeypatch):
    served.studio.warm_up().join()
    offers = Choosing(Handlers(served.studio, Curators(served.studio.settings)))
    audit, request = values(attack="audit", targets=["strict"], amount=40), gr.Request(session_hash="again")
    first = list(offers.time_attack("", request, *audit))
    assert ["being tried out" in said for said in first] == [True, False]
    assert list(offers.time_attack("", request, *audit)) == first[1:]
    monkeypatch.setattr(choosing, "_GOOD_FOR", -1.0)
    assert len(list(offers.time_attack("", request, *audit))) == 2


def test_an_estimate_waits_for_the_model_that_is_being_loaded(served, monkeypatch):
    studio = Studio(served.studio.settings)
    monkeypatch.setattr(choosing, "sleep", lambda seconds: studio.warm_up().join())
    offers = Choosing(Handlers(studio, Curators(studio.settings)))
    audit = values(attack="audit", targets=["strict"], amount=40)
    first, *_, last = offers.time_attack("", gr.Request(session_hash="early"), *audit)
    assert "once the model is in memory" in first
    assert "Takes" in last
    studio.store.close()


def test_a_busy_machine_is_said_beside_the_time():
    assert "busy" not in estimate_html("audit", 12.0)
    assert "busy" not in estimate_html("audit", 3.0, busy=True)
    assert "about 10 seconds here at the present pace. The machine is busy" in estimate_html(
        "audit", 12.0, busy=True
    )


def test_a_private_corpus_is_for_the_curator_and_so_are_its_runs(served, client, visitor, curator):
    with pytest.raises(AppError, match="for the curator"):
        attack(client, subject="ward", targets="strict", text=SECRETS)
    refused = visitor.asks("run_attack", *values(subject="ward", targets=["strict"]))
    assert "for the curator" in refused["attack-progress"]
    assert "attack-verdict" not in str(refused)
    visitor.call("choose_attack", ["secrets", "ward", [], None, None, True])
    assert "for the curator" in visitor.asks("time_attack", *values(subject="ward"))["attack-estimate"]
    run = attack(client, subject="ward", targets="strict", text=SECRETS, token=curator.token)
    assert run["id"] not in str(client.predict(api_name="/attack_runs"))
    with pytest.raises(AppError, match="private text"):
        client.predict(run["id"], api_name="/attack_report")
    assert "attack-verdict" not in json.dumps(visitor.call("open_kept", ["", run["id"]]))
    assert run["id"] not in json.dumps(visitor.call("list_kept", [""]))
    assert run["id"] in str(client.predict(curator.token, api_name="/attack_runs"))


def test_what_protects_nothing_is_not_offered_on_private_text_even_to_the_curator(client, curator):
    for kind in ("whole", "ensemble"):
        with pytest.raises(AppError, match="no target"):
            attack(client, subject="ward", targets=kind, text=SECRETS, token=curator.token)


def test_a_link_opens_for_everybody_until_the_curator_revokes_it(served, visitor, curator):
    run = save_run(served.studio.settings, a_run())
    for name in ("share_kept", "delete_kept"):
        assert "for the curator" in seeing(visitor).asks(name, run.id)["attack-said"]
    shared = seeing(curator).asks("share_kept", run.id)
    token = re.search(r'data-token="([^"]{43})"', shared["attack-links"]).group(1)
    page = httpx.get(f"{served.url}/report/{token}")
    assert page.status_code == 200
    assert "reads 9 of 10 secrets" in page.text
    assert httpx.get(f"{served.url}/report/{token}.json").json()["id"] == run.id
    assert token not in json.dumps(visitor.call("list_kept", [""]))
    assert "revoked" not in json.dumps(visitor.call("revoke_kept", ["", token]))
    assert httpx.get(f"{served.url}/report/{token}").status_code == 200
    assert "revoked" in curator.asks("revoke_kept", token)["attack-said"]
    gone = httpx.get(f"{served.url}/report/{token}")
    assert (gone.status_code, "leads nowhere" in gone.text) == (404, True)


def test_a_report_page_loads_and_runs_nothing_and_is_kept_nowhere(served):
    settings = served.studio.settings
    link = make_link(settings, save_run(settings, a_run(subject=PAYLOADS[0])).id)
    page = httpx.get(f"{served.url}/report/{link.token}")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "<script" not in page.text
    assert httpx.post(f"{served.url}/report/{link.token}").status_code == 405
    revoke_link(settings, link.token)


@pytest.mark.parametrize("name", ["", "x", "x" * 43, "..%2f..%2fetc%2fpasswd", "links.json", "%00"])
def test_a_guess_leads_nowhere(served, name):
    answer = httpx.get(f"{served.url}/report/{name}")
    assert answer.status_code == 404
    assert "leads nowhere" in answer.text


def test_deleting_a_run_ends_its_links(served, curator):
    settings = served.studio.settings
    run = save_run(settings, a_run())
    link = make_link(settings, run.id)
    assert "deleted" in seeing(curator).asks("delete_kept", run.id)["attack-said"]
    assert run.id not in [each.id for each in list_runs(settings)]
    assert httpx.get(f"{served.url}/report/{link.token}").status_code == 404


def test_two_attacks_at_once_are_a_sentence_and_the_first_is_not_disturbed(served, client, visitor):
    before = len(list_runs(served.studio.settings))
    with one_at_a_time(served.studio.settings):
        with pytest.raises(AppError, match="Another attack is running"):
            attack(client, subject="notes", targets="whole", text=SECRETS)
        assert "Another attack is running" in visitor.asks("run_attack", *values())["attack-progress"]
    assert len(list_runs(served.studio.settings)) == before


def test_a_target_that_is_deleted_while_it_is_attacked_is_a_sentence_and_what_was_found_is_kept(
    served, visitor, monkeypatch
):
    settings = served.studio.settings
    folder = make_ensemble(settings, "passing", synthetic=True)

    def ask_then_delete(*arguments, **named):
        found = ask_for_secrets(*arguments, **named)
        shutil.rmtree(folder, ignore_errors=True)
        return found

    monkeypatch.setattr(secrets, "ask_for_secrets", ask_then_delete)
    shown = visitor.asks("run_attack", *values(subject="passing", targets=["whole", "public"]))
    assert "passing was deleted or trained again while it was attacked" in shown["attack-result"]
    assert "With no protection the attacker reads" in shown["attack-result"]
    run = list_runs(settings)[0]
    assert (run.status, [each.target for each in run.outcome.findings]) == ("stopped", ["no protection"])
    again = visitor.asks("run_attack", *values(subject="passing"))
    assert "nothing named 'passing'" in again["attack-progress"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"attack": "canaries", "targets": ["whole"], "amount": 8, "template": "My ID is 5."},
            "needs a hole",
        ),
        ({"attack": "canaries", "targets": ["whole"], "amount": 8, "template": "ID {digits:13}"}, "too many"),
        ({"targets": []}, "at least one target"),
        ({"text": "no arrow"}, "words => secret"),
        ({"amount": 1000}, "between 1 and 40"),
        ({"epsilon": -2}, "between 0.01"),
        ({"seed": -5}, "whole number from 0"),
    ],
)
def test_bad_input_is_a_sentence_on_the_page(visitor, changes, sentence):
    said = visitor.asks("run_attack", *values(**changes))["attack-progress"]
    assert sentence in said
    assert "Traceback" not in said


def test_an_attack_that_is_none_is_refused_before_anything_is_read():
    with pytest.raises(InputError, match="An attack is one of"):
        asked_from(values(attack="nonsense"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_stands_in_a_run_can_run_on_the_page(payload):
    finding = Finding(payload, payload, payload, 0.5, 0.1, 0.9, "share", note=payload)
    bars = (BarData(payload, 0.5, 0.1, 0.9, payload),)
    outcome = Outcome((finding,), (Picture(payload, payload, bars, 1.0),), (payload,), (payload,))
    run = a_run(subject=payload, outcome=outcome, problem=payload, settings={payload: payload})
    for shown in (
        run_html(run),
        runs_html([run]),
        outcome_html(outcome),
        progress_html(Reached(0.5, payload, 3)),
    ):
        for danger in ("<script", "<img", "${", "{{", "javascript:alert"):
            assert danger not in shown.replace(EMPTY, "") or danger not in payload


def test_the_newest_runs_are_listed_and_the_older_ones_counted():
    shown = runs_html([a_run(subject=f"notes {number}") for number in range(23)])
    assert shown.count("Ask for secrets: notes") == 20
    assert "3 older: choose them below" in shown
    assert "older" not in runs_html([a_run()] * 20)


def test_links_are_drawn_relative_to_the_page():
    from core.attack.kept.links import Link

    run = a_run(id="r" * 22)
    shown = links_html([Link("t" * 43, run.id, run.created)], [run])
    (address,) = re.findall(r'href="([^"]+)"', shown)
    assert urlsplit(address) == urlsplit("report/" + "t" * 43)
