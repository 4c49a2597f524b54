"""The alpha-context: the definition to the letter, against brute force."""

from itertools import combinations

import numpy as np
import pytest
import torch

from core.context.alpha import alpha_context, score_context
from core.context.likelihood import EnsembleLikelihood, PublicLikelihood
from core.context.smallest import smallest
from core.errors import InputError
from core.lm.decode import PublicDecoder
from core.lm.public import load_public
from core.settings import Settings


@pytest.fixture(scope="module")
def public(tiny_llama):
    return load_public(str(tiny_llama), Settings(_env_file=None))


class Recalls:
    """Gives the secret away when it sees both words; counts what it is asked."""

    def __init__(self, *needed: str, full: float = 0.9) -> None:
        self.needed, self.full, self.asked = needed, full, 0

    def log_probabilities(self, contexts, secret):
        self.asked += len(contexts)
        seen = [
            sum(word in context.split() for word in self.needed) / len(self.needed) for context in contexts
        ]
        return np.log([self.full * share**2 + 0.001 for share in seen])


def random_values(n, draw):
    """A value for each subset, whole sets included, that depends on the elements in no simple way."""
    table = {}

    def values(subsets):
        for subset in subsets:
            table.setdefault(subset, draw.random())
        return np.array([table[subset] for subset in subsets])

    return values


@pytest.mark.parametrize("distance", [0.02, 0.1, 0.4])
def test_the_exact_search_finds_the_smallest_subset(draw, distance):
    for n in (0, 1, 3, 6, 6, 6):
        values = random_values(n, draw)
        found = smallest(n, values, distance)
        near = [
            subset
            for size in range(n + 1)
            for subset in combinations(range(n), size)
            if abs(values([subset])[0] - found.whole) <= distance
        ]
        assert found.exact
        assert len(found.subset) == min(map(len, near))
        assert abs(found.value - found.whole) <= distance


def test_the_greedy_search_keeps_its_promises(draw):
    weights = draw.random(14) ** 3

    def values(subsets):
        return np.array([weights[list(subset)].sum() for subset in subsets])

    found = smallest(14, values, 0.2, most=120)
    exact = smallest(14, values, 0.2, most=10**6)
    assert exact.exact
    assert found.at_least <= len(exact.subset) <= len(found.subset)
    assert abs(found.value - found.whole) <= 0.2
    for place in range(len(found.subset)):
        fewer = found.subset[:place] + found.subset[place + 1 :]
        assert abs(values([fewer])[0] - found.whole) > 0.2
    assert found.tried <= 120 + 14 * 14 * 2


def test_the_words_that_give_the_secret_away_are_found_with_their_places():
    text = "Well, my bank security code, as you know, is 450 or so"
    found = alpha_context(text, "450", 0.05, Recalls("bank", "code,"))
    assert [word.text for word in found.words] == ["bank", "code,"]
    assert all(text[word.start : word.end] == word.text for word in found.words)
    assert found.exact
    assert found.leaks
    assert abs(found.full - found.kept) <= 0.05


def test_words_behind_the_secret_are_no_context():
    found = alpha_context("my code is 450 bank", "450", 0.01, Recalls("bank"))
    assert found.words == ()
    assert not found.leaks


def test_a_probability_below_alpha_needs_no_words_unless_alpha_is_relative():
    faint = Recalls("bank", full=1e-4)
    text = "my bank code is"
    assert not alpha_context(text, "450", 0.05, faint).leaks
    assert [word.text for word in alpha_context(text, "450", 0.05, faint, relative=True).words] == ["bank"]


def test_a_long_context_is_greedy_with_a_bound():
    text = " ".join(f"w{i}" for i in range(60))
    model = Recalls("w3", "w30", "w59")
    found = alpha_context(text, "450", 0.05, model)
    assert [word.text for word in found.words] == ["w3", "w30", "w59"]
    assert not found.exact
    assert found.at_least == 2
    assert model.asked < 1000


def test_the_public_models_probability_is_the_decoders(public):
    contexts = ["", "My number", "The night nurse wrote that my number is", "a"]
    found = PublicLikelihood(public).log_probabilities(contexts, "145572.")
    for context, log_probability in zip(contexts, found, strict=True):
        tokens = [
            public.tokenizer.bos_token_id,
            *public.tokenizer(context, add_special_tokens=False).input_ids,
        ]
        own = public.tokenizer(" 145572." if context else "145572.", add_special_tokens=False).input_ids
        decoder, total = PublicDecoder(public), 0.0
        logits = decoder.start(tokens)
        for token in own:
            total += float(logits[0].double().log_softmax(-1)[token])
            logits = decoder.step(token)
        assert log_probability == pytest.approx(total, abs=1e-4)


def test_a_row_of_an_ensemble_answers_like_its_own_model(public):
    from core.lm.ensemble import Ensemble
    from core.lm.stack import LoraShape, fresh_stack
    from core.lm.transformer import read_transformer

    shape = LoraShape(layers=2, rank=2)
    stack = fresh_stack(read_transformer(public.model).places(shape), shape, ["a"], [1])
    for _, _, b in stack.tensors():
        b.normal_(0.0, 0.5, generator=torch.Generator().manual_seed(3))
    ensemble = Ensemble(public, stack, precision="float32")
    contexts = ["", "My number is"]
    public_row = EnsembleLikelihood(ensemble, public, 0).log_probabilities(contexts, "14")
    own_row = EnsembleLikelihood(ensemble, public, 1).log_probabilities(contexts, "14")
    assert public_row == pytest.approx(PublicLikelihood(public).log_probabilities(contexts, "14"), abs=1e-3)
    assert np.abs(own_row - public_row).max() > 1e-3
    with pytest.raises(InputError, match="rows 0 to 1"):
        EnsembleLikelihood(ensemble, public, 2)


def test_a_public_model_can_be_asked_directly(public):
    found = alpha_context("My number is 145572.", "145572", 0.5, public, relative=True)
    assert found.exact
    assert abs(found.full - found.kept) <= 0.5 * found.full


def test_the_detectors_own_words_keep_its_score(tiny):
    sentence = "My bank security code is 450."
    found = score_context(tiny, sentence, alpha=0.05)
    kept = " ".join(word.text for word in found.words)
    assert tiny.score([sentence])[0] == pytest.approx(found.full)
    assert tiny.score([kept])[0] == pytest.approx(found.kept, abs=1e-6)
    assert abs(found.full - found.kept) <= 0.05


@pytest.mark.parametrize(
    ("secret", "alpha", "said"),
    [("", 0.1, "secret is empty"), ("450", 0.0, "above 0"), ("450", float("nan"), "above 0")],
)
def test_what_cannot_be_asked_is_a_sentence(secret, alpha, said):
    with pytest.raises(InputError, match=said):
        alpha_context("my code is", secret, alpha, Recalls("code"))


def test_a_context_without_end_is_refused():
    with pytest.raises(InputError, match="at most 120"):
        alpha_context("word " * 500, "450", 0.1, Recalls("code"))
