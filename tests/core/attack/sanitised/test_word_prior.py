"""The prior over words: the tree of spellings gives what reading each spelling alone gives."""

import numpy as np
import pytest
import torch

from core.attack.sanitised.word_prior import WINDOW, TextSoFar, spellings
from core.lm.public import load_public

FORMS = ["slept", "145572", "1455", "1", "soup", "Soup", "SOUP", "nurse"]


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def public(request, tmp_path_factory):
    from core.settings import Settings

    folder = request.getfixturevalue(f"tiny_{request.param}")
    return load_public(str(folder), Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data")))


def alone(public, context: str, form: str) -> float:
    """log P of a spelling and of a word's end after it, in one plain pass."""
    before = [public.tokenizer.eos_token_id, *public.tokenizer(context).input_ids]
    word = public.tokenizer(form).input_ids
    with torch.inference_mode():
        scores = torch.log_softmax(public.model(torch.tensor([before + word])).logits[0].double(), dim=-1)
    total = sum(float(scores[len(before) - 1 + step, token]) for step, token in enumerate(word))
    follows = [public.tokenizer.decode([token])[:1] for token in range(scores.shape[-1])]
    goes_on = [first.isalnum() or first == "\ufffd" for first in follows]
    ends = ~torch.tensor(goes_on)
    return total + float(scores[-1][ends].logsumexp(dim=0))


def test_a_tree_of_spellings_scores_each_as_if_it_stood_alone(public):
    text = TextSoFar(public)
    text.append("The night nurse wrote that the patient ")
    found = text.log_probabilities(FORMS)
    wanted = [alone(public, "The night nurse wrote that the patient", " " + form) for form in FORMS]
    assert np.allclose(found, wanted, atol=1e-4)


def test_asking_leaves_no_trace_in_the_text(public):
    text, fresh = TextSoFar(public), TextSoFar(public)
    text.append("My number is ")
    text.log_probabilities(FORMS)
    text.append("145572. The nurse (")
    fresh.append("My number is 145572. The nurse (")
    assert np.allclose(text.log_probabilities(FORMS), fresh.log_probabilities(FORMS), atol=1e-4)
    assert np.allclose(
        fresh.log_probabilities(["soup"]),
        alone(public, "My number is 145572. The nurse (", "soup"),
        atol=1e-4,
    )


def test_a_first_token_bounds_its_word(public):
    text = TextSoFar(public)
    text.append("Soup, tea and ")
    assert (text.log_probabilities(FORMS) <= text.bounds(FORMS) + 1e-9).all()


def test_the_longer_of_two_numbers_is_not_ruled_out_by_the_shorter(public):
    """The chance of "1" as a whole word leaves out what goes to "1455"."""
    text = TextSoFar(public)
    text.append("My number is ")
    short, long = text.log_probabilities(["1", "1455"])
    with_nothing_after = text.bounds(["1"])[0]
    assert short < with_nothing_after
    assert np.isfinite(long)


def test_a_text_longer_than_the_window_is_read_from_its_newer_part(public):
    text = TextSoFar(public)
    for _ in range(12):
        text.append("soup and tea " * (WINDOW // 12))
        text.bounds(["nurse"])
    assert np.isfinite(text.log_probabilities(FORMS)).all()
    assert text.likely(5)


def test_a_word_is_spelled_in_three_ways_and_a_number_in_one():
    assert spellings("john") == ("john", "John", "JOHN")
    assert spellings("145") == ("145",)
    assert spellings("USA") == ("USA",)
