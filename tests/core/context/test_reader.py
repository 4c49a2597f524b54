"""Reading in batches gives what reading one by one gives, and nothing is read twice."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context import network as network_module
from core.context.network import tokenise
from core.context.reader import Reader
from core.errors import ModelUnavailable
from tests.core.context.tiny_encoder import make_encoder, random_head

SENTENCES = ["My PIN is 4412.", "it rains", "", "x" * 3000, "🙂 émigré 我", "Wait. " * 90, "My PIN is 4412."]
BEFORE = ["", "My card came.", "a", "", "b " * 400, "", "The flag is blue."]


@pytest.fixture(scope="module")
def head():
    return random_head()


def one_by_one(encoder, head):
    """Each sentence alone, without padding, straight from the definition."""
    found = []
    for sentence, before in zip(SENTENCES, BEFORE, strict=True):
        tokens = tokenise(encoder.tokenizer, [sentence], [before])
        with torch.inference_mode():
            states = encoder[0].auto_model(**tokens.batch([0]), output_hidden_states=True).hidden_states
        means = torch.cat([states[layer][0, : tokens.own[0]].mean(0) for layer in head.about.layers])
        summed = means @ torch.from_numpy(head.hidden) + torch.from_numpy(head.offsets)
        found.append(torch.nn.functional.gelu(summed).numpy())
    return np.stack(found)


def test_batches_give_what_single_readings_give_in_the_given_order(tiny_encoder, head, monkeypatch):
    monkeypatch.setattr(network_module, "BATCH_TOKENS", 900)
    found = Reader(tiny_encoder, head).features(SENTENCES, BEFORE)
    np.testing.assert_allclose(found, one_by_one(tiny_encoder, head), atol=2e-5)


def test_the_context_changes_a_sentence_and_so_does_the_head(tiny_encoder, head):
    alone, behind = Reader(tiny_encoder, head).features([SENTENCES[0]] * 2, ["", "My card came."])
    assert np.abs(alone - behind).max() > 1e-3
    other = random_head(seed=5)
    assert np.abs(alone - Reader(tiny_encoder, other).features([SENTENCES[0]], [""])[0]).max() > 1e-2


def test_reading_leaves_the_shared_encoder_as_it_was(tiny_encoder, head):
    before = tiny_encoder.encode("My PIN is 4412.")
    Reader(tiny_encoder, head).features(SENTENCES, BEFORE)
    assert (tiny_encoder.encode("My PIN is 4412.") == before).all()


def test_equal_sentences_are_read_once_and_recent_ones_not_again(tiny_encoder, head, monkeypatch):
    reader, read = Reader(tiny_encoder, head, kept=3), []
    original = reader._read
    monkeypatch.setattr(reader, "_read", lambda pairs: read.append(len(pairs)) or original(pairs))
    first = reader.features(["a b", "c", "a b"], ["", "", ""])
    again = reader.features(["c", "a b", "c"], ["", "", "other"])
    assert read == [2, 1]
    assert (again[0] == first[1]).all()
    assert (again[1] == first[0]).all()
    reader.features(["d", "e", "f"], [""] * 3)
    np.testing.assert_allclose(reader.features(["c"], [""])[0], first[1], atol=2e-5)
    assert read == [2, 1, 3, 1]


def test_more_sentences_than_are_kept_still_come_back_right(tiny_encoder, head):
    reader = Reader(tiny_encoder, head, kept=2)
    np.testing.assert_allclose(
        reader.features(SENTENCES, BEFORE), Reader(tiny_encoder, head).features(SENTENCES, BEFORE), atol=2e-5
    )


def test_many_threads_get_their_own_sentences(tiny_encoder, head):
    reader = Reader(tiny_encoder, head, kept=5)
    texts = [f"number {i}" for i in range(12)]
    alone = {text: Reader(tiny_encoder, head).features([text], [""])[0] for text in texts}

    def ask(place: int) -> bool:
        chosen = texts[place % 12 :] + texts[: place % 7]
        found = reader.features(chosen, [""] * len(chosen))
        return all(np.allclose(row, alone[text], atol=2e-5) for row, text in zip(found, chosen, strict=True))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(24)))


def test_no_sentences_are_no_features(tiny_encoder, head):
    assert Reader(tiny_encoder, head).features([], []).shape == (0, 24)


def test_a_head_for_another_encoder_is_refused(tmp_path, tiny_encoder, head):
    from core.context.encoder import load_encoder
    from core.settings import Settings

    small = load_encoder(str(make_encoder(tmp_path, layers=1)), Settings(_env_file=None))
    with pytest.raises(ModelUnavailable, match="3 layers"):
        Reader(small, head)
    with pytest.raises(ModelUnavailable, match="does not fit"):
        Reader(tiny_encoder, replace(head, hidden=head.hidden[:40]))
