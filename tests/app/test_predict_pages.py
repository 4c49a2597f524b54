"""From a request to pages, on a tiny model without a browser: what the page shows after every token."""

import re
from dataclasses import replace
from itertools import pairwise

import gradio as gr
import pytest

from app.address import AddressField, ChoiceField
from app.identity import Curators
from app.panels.predict.handlers import TERMS, Handlers
from app.panels.predict.look import Look, look_at
from app.panels.predict.moments import OPENING
from app.panels.predict.run import NO_CORPUS, Asked, draw
from app.panels.predict.sheet import Sheet
from app.panels.predict.view import see
from core.corpus.ward_secrets import DemoSecret
from core.errors import InputError
from core.predict.compare import Frame
from core.predict.generate import Released
from core.settings import Settings
from core.studio import FORGETFUL, Studio
from tests.ensembles import make_ensemble

PASSWORD = "correct horse"
CODE = DemoSecret("door code", "patient-1", "The door code for Ilona Vass's flat is", "4821", (1,))


@pytest.fixture(scope="module")
def studio(tiny_llama, tmp_path_factory):
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        curator_password=PASSWORD,
    )
    make_ensemble(settings, "notes", synthetic=True, halves=True, k=3)
    make_ensemble(settings, "ward", synthetic=False)
    studio = Studio(settings)
    yield studio
    studio.store.close()


def ask(studio, corpus, *, prompt="The night nurse", length=6, curator=False):
    asked = Asked(corpus, prompt, temperature=0.9, top_k=0, top_p=1.0, length=length)
    return list(draw(studio, asked, curator=curator, session="test"))


def test_three_columns_grow_in_step_and_the_ribbon_only_ever_grows(studio):
    pages = ask(studio, "notes", length=12)
    assert all(page.answers.count("<section") == 3 for page in pages)
    assert all(later.ribbon.startswith(earlier.ribbon) for earlier, later in pairwise(pages))
    assert pages[-1].ribbon.count("data-said") >= 1
    assert 'class="notice done"' in pages[-1].verdict
    assert all("Drawing the answers: token" in page.verdict for page in pages[1:-1])


def test_the_meter_on_the_last_page_is_the_ledgers(studio):
    page = ask(studio, "notes")[-1]
    budget = studio.ledger.budget("notes")
    assert f'aria-valuenow="{min(budget.remaining):.4f}"' in page.meter
    assert f"{budget.used:,} of 64 queries used" in page.meter
    assert page.details.count("bar-name") == 6  # three parts of two halves each


def test_a_visitor_of_a_private_corpus_gets_two_columns_and_no_account(studio):
    for page in ask(studio, "ward"):
        assert page.answers.count("<section") == 2
        assert (page.ribbon, page.details) == ("", "")
        assert "left of each part is for the curator" in page.meter
    assert "for the curator" in page.verdict
    cost = studio.store.log.events(limit=1)[0].cost
    assert cost > 0.0  # in the log, where only the curator sees it
    assert "data-said" in ask(studio, "ward", curator=True)[-1].ribbon


def test_without_a_corpus_the_public_model_answers_and_nothing_is_spent(studio):
    page = ask(studio, NO_CORPUS)[-1]
    assert page.answers.count("<section") == 1
    assert "nothing was spent" in page.verdict


def test_a_refused_request_is_noted_and_costs_nothing(studio):
    before = studio.ledger.budget("notes")
    with pytest.raises(InputError, match="empty"):
        ask(studio, "notes", prompt="  ")
    assert studio.ledger.budget("notes") == before
    assert studio.store.log.events(limit=1)[0].outcome == "refused"


def test_a_secret_in_pieces_is_found_and_public_tokens_are_counted(studio):
    sheet = Sheet(see(studio, "notes", curator=False), CODE.prompt, compared=True, secrets=(CODE,))
    for number, piece in enumerate((" 4", "8", "2", "1", ".")):
        public = Released(1, f"w{number}", 60 + number, public=number > 2)
        sheet.take(Frame(public, Released(1, piece, 0), None, None))
    outcome = sheet.outcome(0.5)
    assert [leak.secret for leak in outcome.unprotected] == ["4821"]
    assert (outcome.protected, outcome.tokens, outcome.from_public) == ((), 5, 2)
    assert "<mark" in sheet.answers
    assert 'class="from-public" title="From the public model">w3w4<' in sheet.answers


def test_what_the_ledger_calls_private_is_private_whatever_a_manifest_says(studio):
    entry = studio.entry("ward")
    forged = replace(entry, manifest=replace(entry.manifest, synthetic=True))
    studio.entry = lambda name: forged
    try:
        view = see(studio, "ward", curator=False)
    finally:
        del studio.entry
    assert not view.synthetic
    assert not view.exact
    assert view.reading.remaining == ()


def test_a_space_that_forgets_says_so(studio, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "somebody/studio")
    assert see(studio, "ward", curator=False).problem == FORGETFUL
    assert see(studio, "notes", curator=False).problem == ""
    with pytest.raises(InputError, match="forgets its disk"):
        ask(studio, "ward")


@pytest.fixture
def handlers(studio):
    return Handlers(studio, Curators(studio.settings))


def test_starting_over_is_one_click_on_a_synthetic_corpus_and_refused_on_a_private_one(handlers, studio):
    class Request:
        session_hash = "test"

    said, answers, ribbon, verdict = handlers.start_over("notes", "submix", 3.0, 4.0, 50, 0.5, Request())
    assert "A fresh budget: epsilon 3 over 50 queries." in said
    assert answers.count("Its answer appears here.") == 3  # what the last budget paid for is gone
    assert (ribbon, verdict) == ("", OPENING)
    assert studio.ledger.budget("notes").parts == 3
    before = studio.ledger.budget("ward")
    assert "private" in handlers.start_over("ward", "strict", 9.0, 2.0, 50, 0.5, Request())[0]
    assert studio.ledger.budget("ward") == before
    assert "stream of its own" in handlers.start_over("notes", "finetuned", 3.0, 4.0, 50, 0.5, Request())[0]
    handlers.start_over("notes", "strict", 2.0, 2.0, 64, 0.7, Request())


def test_the_terms_of_a_private_corpus_are_shown_as_fixed(handlers):
    for corpus, open_to_change in (("notes", True), ("ward", False)):
        shown = handlers.look("", False, corpus, 40, 4)
        assert len(shown) == len(Look._fields) + 5 + len(TERMS)
        assert [update["interactive"] for update in shown[-len(TERMS) :]] == [open_to_change] * len(TERMS)
    assert "stays released" in handlers.look("", False, "ward", 40, 4)[Look._fields.index("in_force")]


def test_the_price_is_said_before_sending(handlers, studio):
    quoted = float(re.search(r"at most ([\d.]+) of 2", handlers.quote("", False, "notes", 6)).group(1))
    before = studio.ledger.budget("notes").remaining
    ask(studio, "notes", length=6)
    after = studio.ledger.budget("notes").remaining
    assert max(had - left for had, left in zip(before, after, strict=True)) <= quoted + 1e-4
    assert handlers.quote("", False, NO_CORPUS, 6) == "This costs nothing."


def test_an_unknown_corpus_is_a_sentence_in_every_handler(handlers):
    assert "no ensemble named" in handlers.look("", False, "nobody", 40, 4)[0]
    assert "no ensemble named" in handlers.quote("", False, "nobody", 40)
    assert "no ensemble named" in handlers.meaning("", False, "nobody", 4)


def test_the_public_model_alone_has_no_budget_to_show():
    look = look_at(None, 40, 100)
    assert (look.meter, look.details, look.meaning) == ("", "", "")


def test_a_choice_in_the_address_is_taken_only_if_there_is_such_a_choice():
    field = ChoiceField("protocol", gr.Number(), lambda: ["strict", "submix"])
    assert field.read({"protocol": "submix"}) == "submix"
    assert field.read({"protocol": "<script>"}) is None
    assert field.read({}) is None
    assert AddressField("alpha", gr.Number(), 1.1, 64).read({"alpha": "1e99"}) is None
