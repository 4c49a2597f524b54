"""Prompt to tokens under a budget, on a tiny real ensemble."""

import dataclasses

import pytest

from core.errors import InputError
from core.lm.ensemble import Ensemble
from core.lm.public import load_public
from core.lm.stack import LoraShape
from core.predict import Decoding, StrictSubMix
from core.predict.account import Account
from core.predict.generate import Accounted, Released, stream_private, visitors_view
from core.settings import Settings
from core.store import open_store
from tests.core.lm.tiny import random_stack

K = 4


@pytest.fixture(scope="module")
def ensemble(tiny_llama):
    public = load_public(str(tiny_llama), Settings(_env_file=None))
    return public, Ensemble(public, random_stack(public, K, LoraShape(layers=2, rank=2)))


@pytest.fixture
def book(settings):
    with open_store(settings) as store:
        store.ledger.open_budget(
            "ward", parts=K, epsilon=2.0, alpha=2.0, queries=64, protocol="strict", synthetic=False
        )
        yield store.ledger


def stream(ensemble, book, settings, prompt="The night nurse", length=6):
    public, models = ensemble
    account = Account("ward", StrictSubMix(K, 2.0, 2.0, 64), book)
    return stream_private(
        public, models.decoder(), account, prompt, Decoding(), length=length, limits=settings, session="ann"
    )


def test_one_debit_for_each_token_and_the_parts_have_a_say(ensemble, book, settings):
    tokens = list(stream(ensemble, book, settings))
    assert 1 <= len(tokens) <= 6
    assert book.budget("ward").used == len(tokens)
    assert [token.released.used for token in tokens] == list(range(1, len(tokens) + 1))
    assert any(not token.drawn.public for token in tokens)
    assert all(token.cost >= 0.0 for token in tokens)
    assert {entry.session for entry in book.entries("ward") if entry.kind == "debit"} == {"ann"}


def test_a_visitor_gets_the_token_the_text_and_the_public_count_and_nothing_else(ensemble, book, settings):
    for released in visitors_view(stream(ensemble, book, settings)):
        assert type(released) is Released
    assert {field.name for field in dataclasses.fields(Released)} == {"token", "text", "used", "public"}
    assert not issubclass(Accounted, Released)


def test_a_cancelled_answer_is_charged_for_what_was_drawn_and_no_more(ensemble, book, settings):
    running = stream(ensemble, book, settings, length=20)
    next(running)
    running.close()
    assert book.budget("ward").used == 1


@pytest.mark.parametrize(("prompt", "length"), [("", 5), ("x\0", 5), ("fine", 0), ("fine", 9_999)])
def test_a_rejected_request_is_not_charged(ensemble, book, settings, prompt, length):
    with pytest.raises(InputError):
        list(stream(ensemble, book, settings, prompt, length))
    assert book.budget("ward").used == 0
