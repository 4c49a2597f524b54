"""The `sanitize` and `calibrate` endpoints over gradio_client, on a small vocabulary."""

import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from core.settings import Settings
from tests.serving import Served, serve

WORDS = [
    "my",
    "id",
    "is",
    "the",
    "nurse",
    "slept",
    "soup",
    "tea",
    "code",
    "room",
    "1",
    "2",
    "12",
    "99",
    "2019",
]
SECRET = "Zanzibar-77421"


@pytest.fixture(scope="module")
def small_served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 6))
    lines = [" ".join([word, *map(str, vector)]) for word, vector in zip(WORDS, vectors, strict=True)]
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "small.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        vectors=str(folder / "small.txt"),
        port=0,
    )
    with serve(settings) as running:
        yield running


@pytest.fixture(scope="module")
def client(small_served):
    return Client(small_served.url, verbose=False)


def ask(client, text, **settings):
    return client.predict(text=text, api_name="/sanitize", **settings)


def test_smdp_rewrites_what_the_policy_calls_sensitive_and_mdp_every_word(client):
    text = "My ID is 12, room 2019."
    chosen = ask(client, text, epsilon=0.5)
    assert chosen["text"].startswith("My ID is ")
    assert (chosen["words"], chosen["perturbed"], chosen["draws"]) == (6, 2, 2)
    every = ask(client, text, mechanism="mdp", epsilon=0.5)
    assert every["perturbed"] == 6


def test_the_facts_come_with_the_text(client):
    answer = ask(client, "My ID is 145572.", epsilon=3.0)
    said = " ".join(answer["facts"])
    assert answer["out_of_vocabulary"] == 1
    assert "145572" not in answer["text"]
    for fact in ("epsilon 3", "Outside the vocabulary", "exp(3 d(w, w'))", "does not hide", "add up"):
        assert fact in said


def test_every_call_draws_anew(client):
    assert len({ask(client, "12 " * 20, epsilon=0.5)["text"] for _ in range(3)}) == 3


def test_own_words_and_policies_in_one_call(client):
    answer = ask(
        client, "The nurse slept in room 12.", policy="own,digits", own_words="nurse\n/sl\\w+/", epsilon=1
    )
    assert answer["perturbed"] == 3


def test_one_draw_for_equal_words_when_asked(client):
    answer = ask(client, "12 and 12 and 12", consistent=True, epsilon=0.5)
    assert answer["draws"] == 1
    assert len(set(answer["text"].split(" and "))) == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"text": "  "}, "no text"),
        ({"text": "a" * 30_000}, "at most 20,000"),
        ({"text": "before\0after"}, "invalid character at position 7"),
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": -1}, "greater than 0"),
        ({"epsilon": 1e308}, "Epsilon above"),
        ({"mechanism": "rot13"}, "no mechanism called"),
        ({"noise": "white"}, "no noise called"),
        ({"policy": "everything"}, "no policy called"),
        ({"policy": ""}, "at least one policy"),
        ({"policy": "own", "own_words": "/(/"}, "not a regular expression"),
        ({"policy": "own"}, "empty"),
    ],
    ids=str,
)
def test_bad_input_gets_a_sentence(client, settings, sentence):
    with pytest.raises(AppError, match=sentence) as caught:
        ask(client, **{"text": "My ID is 12.", **settings})
    assert "Traceback" not in str(caught.value)
    assert caught.value.title == "bad-input"  # what a program looks at


def test_calibrate_goes_both_ways(client):
    found = client.predict(epsilon=4.0, api_name="/calibrate")
    assert 0.0 <= found["stays_interval"][0] <= found["stays"] <= found["stays_interval"][1] <= 1.0
    assert found["distinct"] >= 1.0
    back = client.predict(deniability=1.0 - found["stays"], api_name="/calibrate")
    assert back["epsilon"] == pytest.approx(4.0, rel=0.3)
    with pytest.raises(AppError, match="between 0 and 1"):
        client.predict(deniability=2.0, api_name="/calibrate")


def test_texts_are_hashed_in_the_log_and_in_no_other(client, small_served, caplog):
    with caplog.at_level(logging.DEBUG):
        ask(client, f"My ID is {SECRET}.")
        with pytest.raises(AppError):
            ask(client, f"My ID is {SECRET}.", epsilon=0)
    events = small_served.studio.store.log.events(limit=2)
    assert [(event.panel, event.action, event.outcome) for event in events] == [
        ("sanitize", "sanitize", "refused"),
        ("sanitize", "sanitize", "done"),
    ]
    assert all(event.text is None and event.text_hash for event in events)
    assert SECRET not in caplog.text
    kept = small_served.studio.settings.data_dir
    assert not any(SECRET.encode() in path.read_bytes() for path in kept.rglob("*") if path.is_file())


def test_both_are_tools_with_a_description(small_served):
    info = httpx.get(f"{small_served.url}/gradio_api/info").json()["named_endpoints"]
    assert {"/sanitize", "/calibrate"} <= set(info)
    assert "metric differential privacy" in info["/sanitize"]["description"]
    assert "epsilon" in {parameter["parameter_name"] for parameter in info["/sanitize"]["parameters"]}
