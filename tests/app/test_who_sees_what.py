"""On a private corpus nobody but the curator learns costs, weights or what is left: by any handler."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.app.calls import Caller
from tests.app.conftest import PASSWORD

PAID = (0.345678, 0.123987, 0.298761, 0.456719)  # what the parts of the private corpus paid before
COST = 0.987612  # of an earlier answer, in the session log
HIDDEN = ("token cost-", "bar-left", "weakest: part", 'class=\\"bars', "at this pace", "cost at most")


@pytest.fixture(scope="module")
def private(served):
    """The private corpus with a budget whose remainders nobody would guess."""
    ledger = served.studio.ledger
    served.studio.served("ward").open_budget(ledger)
    ledger.debit("ward", PAID)
    return served


@pytest.fixture(scope="module")
def client(private):
    return Client(private.url, verbose=False)


@pytest.fixture
def token(client):
    """A fresh one for each test: the walk also finds the way out."""
    return client.predict(PASSWORD, api_name="/sign_in")


@pytest.fixture(scope="module")
def caller(private):
    made = Caller(private.url)
    yield made
    made.close()


def inputs(caller, dependency, components, token, *, visitor=False):
    """Plausible values for whatever a handler reads: the private corpus wherever a corpus can be named."""
    endpoint = caller.endpoints.get(f"/{dependency['api_name']}")
    if endpoint:
        named = {
            "corpus": "ward",
            "prompt": "The night nurse",
            "token": token,
            "length": 4,
            "password": "guess",
        }
        return [
            named.get(value["parameter_name"], value.get("parameter_default"))
            for value in endpoint["parameters"]
        ]
    by_id = {"corpus": "ward", "visitor": visitor, "prompt": "The night nurse"}
    return [
        token
        if component["type"] == "browserstate"
        else by_id.get(component["props"].get("elem_id"), component["props"].get("value"))
        for component in components
    ]


def secrets_of(private):
    """Every number that must not leave, as it might be written."""
    left = private.studio.ledger.budget("ward").remaining
    numbers = [*left, *(2.0 - paid for paid in PAID), *PAID, COST]
    return {f"{number:.4f}" for number in numbers} | {f"{number:.5f}" for number in numbers}


def walk(caller, token, handlers, **switch):
    """All that these handlers of the page answer to this token."""

    def one(handler):
        dependency, components = handler
        data = inputs(caller, dependency, components, token, **switch)
        said = caller.call(dependency, data, session=f"walk-{dependency['id']}-{token!s:.6}")
        return f"{dependency['id']} {dependency['api_name']}: {said}"

    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(one, handlers))


def reads_a_token(caller, handler):
    dependency, components = handler
    endpoint = caller.endpoints.get(f"/{dependency['api_name']}", {"parameters": []})
    return any(component["type"] == "browserstate" for component in components) or any(
        parameter["parameter_name"] == "token" for parameter in endpoint["parameters"]
    )


def reads_the_switch(handler):
    return any(component["props"].get("elem_id") == "visitor" for component in handler[1])


@pytest.mark.parametrize("token", ["", "forged", None])
def test_no_handler_gives_a_stranger_curator_data(private, caller, token):
    """Every handler of every panel without a token; those that read one also with a false one."""
    private.studio.note(
        session="x", panel="predict", action="generate", outcome="done", duration_ms=1.0, cost=COST
    )
    studio, handlers = private.studio, [h for h in caller.handlers if token == "" or reads_a_token(caller, h)]
    before = studio.ensembles()
    answers = walk(caller, token, handlers)
    assert (studio.ensembles(), studio.jobs.statuses(), studio.jobs.waiting()) == (before, (), None)
    said = "".join(answers)
    assert len(answers) >= 20
    assert "queries left" in said  # the walk did reach the private corpus
    secrets = secrets_of(private)
    leaked = [answer for answer in answers if any(secret in answer for secret in secrets)]
    assert leaked == []
    assert [answer for answer in answers if any(sign in answer for sign in HIDDEN)] == []


def test_the_same_calls_with_the_curators_token_do_find_them(private, caller, token):
    handlers = [each for each in caller.handlers if reads_the_switch(each) or each[0]["api_name"] == "show"]
    said = "".join(walk(caller, token, handlers))
    assert any(f"{left:.4f}" in said for left in private.studio.ledger.budget("ward").remaining)
    assert f"{COST:.4f}" in said
    assert [sign for sign in HIDDEN if sign not in said] == []


def test_the_visitors_switch_shows_the_curator_what_others_see(caller, token):
    handlers = [each for each in caller.handlers if reads_the_switch(each)]
    assert len(handlers) >= 4  # the look, the price, what it means, the answer
    answers = walk(caller, token, handlers, visitor=True)
    assert [answer for answer in answers if any(sign in answer for sign in HIDDEN)] == []


def test_the_endpoints_show_the_exact_account_with_a_token_only(client, token):
    text, account = client.predict("The night nurse", length=3, corpus="ward", api_name="/generate")
    assert set(account) == {"tokens", "public", "used"}
    assert isinstance(text, str)
    _, exact = client.predict("The night nurse", length=3, corpus="ward", token=token, api_name="/generate")
    assert exact["cost"] >= 0.0
    hidden = client.predict("ward", api_name="/budget")
    assert set(hidden) == {"corpus", "synthetic", "protocol", "parts", "epsilon", "alpha", "queries", "used"}
    assert len(client.predict("ward", token, api_name="/budget")["remaining"]) == 4


def test_on_a_synthetic_corpus_everyone_sees_all(client):
    _, account = client.predict("The night nurse", length=3, corpus="notes", api_name="/generate")
    assert "cost" in account
    assert "remaining" in client.predict("notes", api_name="/budget")


def test_a_quote_is_a_public_number_and_corpora_lists_terms(client):
    assert 0.0 < client.predict("ward", 4, api_name="/quote") < 2.0
    listed = client.predict(api_name="/corpora")
    assert {corpus["corpus"] for corpus in listed} >= {"notes", "ward"}
    assert all("remaining" not in corpus for corpus in listed)


def test_an_unknown_corpus_or_a_wrong_password_is_a_sentence(client):
    with pytest.raises(AppError, match="no ensemble named"):
        client.predict("../ward", api_name="/budget")
    with pytest.raises(AppError, match="not the curator's password"):
        client.predict("wrong", api_name="/sign_in")
