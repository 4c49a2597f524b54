"""Texts that branch are read as texts that do not, and what they share is read once."""

import pytest
import torch

from core.attack.ranking.branches import Branches
from core.attack.ranking.remembered import RememberingDecoder
from core.errors import InputError
from core.lm.ensemble import Ensemble
from core.lm.stack import LoraShape
from tests.core.lm.tiny import random_stack, tiny_public

PROMPT = [5, 17, 31, 8]


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def public(request, tmp_path_factory):
    return tiny_public(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def stack(public):
    return random_stack(public, 3, LoraShape(layers=2, rank=4))


def logits_of(public, stack, tokens):
    return Ensemble(public, stack).decoder().start(tokens)


def test_every_branch_is_read_as_the_ensemble_reads_its_text(public, stack):
    branches = Branches(public, stack)
    root, first = branches.start(PROMPT)
    assert torch.allclose(first, logits_of(public, stack, PROMPT), atol=1e-4)
    grown = branches.extend([root, root, root], [3, 4, 60])
    again = branches.extend([grown[2][0], grown[0][0], grown[2][0]], [9, 9, 10])
    for (_, logits), tail in zip(again, ([60, 9], [3, 9], [60, 10]), strict=True):
        assert logits.shape == (4, 97)
        assert torch.allclose(logits, logits_of(public, stack, [*PROMPT, *tail]), atol=1e-4)


def test_the_tokens_read_are_counted_and_a_shared_beginning_once(public, stack):
    branches = Branches(public, stack)
    root, _ = branches.start(PROMPT)
    branches.extend([root] * 5, [1, 2, 3, 4, 5])
    assert branches.read == len(PROMPT) + 5


def test_one_adapter_can_be_read_without_the_public_model_beside_it(public, stack):
    one = stack.select(["part-1"])
    _, logits = Branches(public, one, public_row=False).start(PROMPT)
    assert logits.shape == (1, 97)
    assert torch.allclose(logits[0], logits_of(public, stack, PROMPT)[2], atol=1e-4)


def test_the_public_model_alone_has_no_adapters(public, stack):
    _, logits = Branches(public, stack.select([])).start(PROMPT)
    assert torch.allclose(logits[0], logits_of(public, stack, PROMPT)[0], atol=1e-4)
    with pytest.raises(InputError, match="no model"):
        Branches(public, stack.select([]), public_row=False)


def test_branches_of_different_lengths_are_not_read_together(public, stack):
    branches = Branches(public, stack)
    root, _ = branches.start(PROMPT)
    ((longer, _),) = branches.extend([root], [1])
    with pytest.raises(InputError, match="same length"):
        branches.extend([root, longer], [1, 2])
    with pytest.raises(InputError, match="at most 48"):
        branches.start([1] * 49)


def test_a_remembering_decoder_answers_like_a_fresh_one_and_reads_each_history_once(public, stack):
    decoder = RememberingDecoder(public, stack)
    for tail in ([3, 9], [3, 9], [3, 8], [4]):
        decoder.start(PROMPT)
        for token in tail:
            logits = decoder.step(token)
        assert torch.allclose(logits, logits_of(public, stack, [*PROMPT, *tail]), atol=1e-4)
    assert decoder.read == len(PROMPT) + 4


def test_a_remembering_decoder_forgets_the_oldest_when_it_holds_too_much(public, stack):
    decoder = RememberingDecoder(public, stack, most_bytes=3 * 4 * 97 * 4)
    decoder.start(PROMPT)
    for token in (1, 2, 3, 4, 5, 6):
        logits = decoder.step(token)
    assert len(decoder._known) <= 3
    assert torch.allclose(logits, logits_of(public, stack, [*PROMPT, 1, 2, 3, 4, 5, 6]), atol=1e-4)
