"""The `generate` endpoint over gradio_client: it streams, and bad input gets a sentence."""

from itertools import pairwise

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

BAD_PROMPTS = {
    "empty": ("", "empty"),
    "blank": (" \n\t ", "empty"),
    "too long": ("a" * 100_000, "characters"),
    "NUL": ("before\0after", "invalid character at position 7"),
    "emoji": ("🙂" * 10_000, "characters"),
    "more tokens than the model reads": ("zq" * 400, "reads at most 256"),
}


@pytest.fixture(scope="module")
def client(served):
    return Client(served.url, verbose=False)


def ask(client, prompt, temperature=1.0, top_k=0, top_p=1.0, length=8):
    return client.predict(prompt, temperature, top_k, top_p, length, api_name="/generate")[0]


def test_an_answer_has_text_and_streams_piece_by_piece(client):
    pieces: list[str] = []
    for _ in range(5):  # a random model may end at once: one time in 300, and five times in a row never
        job = client.submit("The night nurse", 1.0, 0, 1.0, 12, api_name="/generate")
        final, _ = job.result()
        pieces = [text for text, _ in job.outputs()]
        if len(pieces) > 1:
            break
    assert final
    assert len(pieces) > 1
    assert all(later.startswith(earlier) for earlier, later in pairwise(pieces))


@pytest.mark.parametrize("prompt", ["x", "\u202eright to left\u202c", "<|endoftext|>", "two\nlines"])
def test_unusual_prompts_are_answered(client, prompt):
    assert isinstance(ask(client, prompt), str)


@pytest.mark.parametrize(("prompt", "sentence"), BAD_PROMPTS.values(), ids=BAD_PROMPTS)
def test_a_bad_prompt_gets_a_sentence(client, prompt, sentence):
    with pytest.raises(AppError, match=sentence) as caught:
        ask(client, prompt)
    assert "Traceback" not in str(caught.value)
    assert caught.value.title == "bad-input"  # what a program looks at


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"temperature": 0.0}, "temperature must be above 0"),
        ({"temperature": -1.0}, "temperature must be above 0"),
        ({"top_p": 0.0}, "Top-p"),
        ({"top_k": -3}, "Top-k"),
        ({"length": 0}, "length must lie between"),
        ({"length": 100_000}, "length must lie between"),
    ],
)
def test_a_setting_out_of_range_gets_a_sentence(client, settings, sentence):
    with pytest.raises(AppError, match=sentence):
        ask(client, "The night nurse", **settings)


def test_refused_and_answered_requests_are_both_in_the_log_with_hashes_only(client, served):
    ask(client, "A prompt that nobody may read")
    with pytest.raises(AppError):
        ask(client, "A refused prompt", temperature=0.0)
    events = served.studio.store.log.events(limit=2)
    assert [event.outcome for event in events] == ["refused", "done"]
    assert all(event.text is None and event.text_hash for event in events)


def test_two_requests_share_nothing(client):
    """With one token to choose from, the same prompt gives the same text whatever ran before it."""
    first = ask(client, "Soup, tea and", top_k=1)
    ask(client, "My number is")
    assert ask(client, "Soup, tea and", top_k=1) == first


def test_a_lone_surrogate_sent_over_http_gets_a_sentence(served):
    body = b'{"data": ["half \\ud800 pair", 1.0, 0, 1.0, 4, "", ""]}'
    json = {"content-type": "application/json"}
    asked = httpx.post(f"{served.url}/gradio_api/call/generate", content=body, headers=json)
    answer = httpx.get(f"{served.url}/gradio_api/call/generate/{asked.json()['event_id']}")
    assert "invalid character at position 6" in answer.text
    assert "Traceback" not in answer.text
