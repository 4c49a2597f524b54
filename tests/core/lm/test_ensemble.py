"""Stacked adapters answer as each adapter alone would, and no row knows of the others."""

from dataclasses import replace
from functools import partial
from typing import get_args

import pytest
import torch

from core.errors import InputError, ModelUnavailable
from core.lm.ensemble import Ensemble as FastEnsemble
from core.lm.linear import FrozenLinear, Precision
from core.lm.public import PublicModel
from core.lm.stack import LoraShape, fresh_stack
from core.lm.transformer import read_transformer
from tests.core.lm.tiny import CONTEXT, VOCABULARY, random_stack

SHAPE = LoraShape(layers=2, rank=4, alpha=8.0)
PROMPT = [5, 17, 3, 88, 41, 2, 2, 60]
Ensemble = partial(FastEnsemble, precision="float32")


def transcript(ensemble: FastEnsemble, prompt: list[int], tokens: list[int]) -> torch.Tensor:
    """Logits after the prompt and after each further token: (steps, rows, V)."""
    decoder = ensemble.decoder()
    return torch.stack([decoder.start(prompt), *(decoder.step(token) for token in tokens)])


@torch.inference_mode()
def public_logits(public: PublicModel, tokens: list[int]) -> torch.Tensor:
    return public.model(torch.tensor([tokens])).logits[0]


def test_the_public_row_is_the_public_model(public: PublicModel) -> None:
    ensemble = Ensemble(public, random_stack(public, 3, SHAPE))
    got = transcript(ensemble, PROMPT, [9, 30, 7])[:, 0]
    wanted = public_logits(public, [*PROMPT, 9, 30, 7])[len(PROMPT) - 1 :]
    torch.testing.assert_close(got, wanted, atol=1e-4, rtol=0)


def test_an_ensemble_without_adapters_is_the_public_model_alone(public: PublicModel) -> None:
    alone = Ensemble(public, random_stack(public, 2, SHAPE).select([]))
    assert alone.names == ("public",)
    wanted = public_logits(public, PROMPT)[-1:]
    torch.testing.assert_close(alone.decoder().start(PROMPT), wanted, atol=1e-4, rtol=0)


def test_an_adapter_changes_its_own_row(public: PublicModel) -> None:
    logits = Ensemble(public, random_stack(public, 3, SHAPE)).decoder().start(PROMPT)
    assert (logits[1:] - logits[0]).abs().amax(dim=-1).min() > 0.1
    assert (logits[1] - logits[2]).abs().max() > 0.1


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("rows", [3, 16])
def test_a_row_is_bit_identical_whatever_stands_in_the_other_rows(
    public: PublicModel, rows: int, precision: Precision
) -> None:
    Ensemble = partial(FastEnsemble, precision=precision)
    stack = random_stack(public, rows, SHAPE)
    others = [name for name in stack.names if name != "part-1"]
    tokens = [9, 30, 7, 11]
    whole = transcript(Ensemble(public, stack), PROMPT, tokens)
    alone = transcript(Ensemble(public, stack.without(others)), PROMPT, tokens)
    missing = transcript(Ensemble(public, stack.without(["part-1"])), PROMPT, tokens)
    assert torch.equal(whole[:, 2], alone[:, 2])
    assert torch.equal(whole[:, 0], alone[:, 0])
    kept = [row for row in range(rows + 1) if row != 2]
    assert torch.equal(whole[:, kept], missing[:, kept])
    assert not torch.equal(whole[:, 2], missing[:, 2])


def test_a_neighbour_of_infinities_does_not_reach_a_row(public: PublicModel) -> None:
    stack = random_stack(public, 3, SHAPE)
    broken = replace(stack, places={p: replace(lora, b=lora.b.clone()) for p, lora in stack.places.items()})
    for _, _, b in broken.tensors():
        b[2] = float("nan")
    healthy = transcript(Ensemble(public, stack), PROMPT, [4])
    beside = transcript(Ensemble(public, broken), PROMPT, [4])
    assert torch.equal(healthy[:, :3], beside[:, :3])
    assert beside[:, 3].isnan().all()


def test_a_missing_part_answers_as_the_public_model(public: PublicModel) -> None:
    logits = Ensemble(public, random_stack(public, 3, SHAPE).without(["part-2"])).decoder().start(PROMPT)
    torch.testing.assert_close(logits[3], logits[0], atol=1e-5, rtol=0)


def test_interleaved_requests_do_not_touch_each_other(public: PublicModel) -> None:
    ensemble = Ensemble(public, random_stack(public, 2, SHAPE))
    first, second = ensemble.decoder(), ensemble.decoder()
    mixed = [first.start(PROMPT), second.start([1, 2, 3]), first.step(9), second.step(4), first.step(30)]
    assert torch.equal(torch.stack(mixed[0::2]), transcript(ensemble, PROMPT, [9, 30]))
    assert torch.equal(torch.stack(mixed[1::2]), transcript(ensemble, [1, 2, 3], [4]))


def test_a_decoder_can_start_again(public: PublicModel) -> None:
    ensemble = Ensemble(public, random_stack(public, 2, SHAPE))
    decoder = ensemble.decoder()
    decoder.start([8, 8, 8])
    decoder.step(1)
    assert torch.equal(decoder.start(PROMPT), ensemble.decoder().start(PROMPT))


def test_steps_give_what_reading_at_once_gives(public: PublicModel) -> None:
    ensemble = Ensemble(public, random_stack(public, 2, SHAPE))
    text = [*PROMPT, 9, 30, 7]
    stepped = transcript(ensemble, PROMPT, [9, 30, 7])[-1]
    at_once = ensemble.decoder().start(text)
    torch.testing.assert_close(stepped, at_once, atol=1e-4, rtol=0)
    from_states = ensemble.logits(ensemble.states(text)[:, -1])
    torch.testing.assert_close(from_states, at_once, atol=1e-5, rtol=0)


def test_a_long_prompt_read_in_stretches_gives_the_same(
    public: PublicModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensemble = Ensemble(public, random_stack(public, 2, SHAPE))
    text = [(7 * i) % VOCABULARY for i in range(CONTEXT - 1)]
    at_once = ensemble.decoder().start(text)
    monkeypatch.setattr("core.lm.ensemble._PREFILL_POSITIONS", 15)
    torch.testing.assert_close(ensemble.decoder().start(text), at_once, atol=1e-4, rtol=0)


def test_log_likelihoods_are_those_of_the_public_model_in_row_0(public: PublicModel) -> None:
    ensemble = Ensemble(public, random_stack(public, 2, SHAPE))
    text = [(5 * i) % VOCABULARY for i in range(40)]
    got = ensemble.log_likelihoods(text)
    log_pmf = public_logits(public, text)[:-1].log_softmax(dim=-1)
    wanted = log_pmf.gather(-1, torch.tensor(text[1:])[:, None])[:, 0]
    assert got.shape == (3, 39)
    torch.testing.assert_close(got[0], wanted, atol=1e-4, rtol=0)
    assert ensemble.log_likelihoods([4]).shape == (3, 0)


def test_the_context_is_a_limit_and_nothing_is_cut_off_silently(public: PublicModel) -> None:
    decoder = Ensemble(public, random_stack(public, 1, SHAPE)).decoder()
    with pytest.raises(InputError, match="at most 48"):
        decoder.start([1] * (CONTEXT + 1))
    decoder.start([1] * (CONTEXT - 1))
    decoder.step(2)
    with pytest.raises(InputError, match="at most 48"):
        decoder.step(3)


def test_what_cannot_be_read_is_refused(public: PublicModel) -> None:
    decoder = Ensemble(public, random_stack(public, 1, SHAPE)).decoder()
    with pytest.raises(InputError, match="starts with a prompt"):
        decoder.step(1)
    with pytest.raises(InputError, match="no tokens"):
        decoder.start([])
    with pytest.raises(InputError, match="vocabulary"):
        decoder.start([VOCABULARY])


def test_rows_are_selected_by_name(public: PublicModel) -> None:
    stack = random_stack(public, 4, SHAPE)
    whole = Ensemble(public, stack).decoder().start(PROMPT)
    two = Ensemble(public, stack.select(["part-3", "part-0"]))
    assert two.names == ("public", "part-3", "part-0")
    torch.testing.assert_close(two.decoder().start(PROMPT), whole[[0, 4, 1]], atol=1e-4, rtol=0)
    with pytest.raises(InputError, match="no adapter named 'part-9'"):
        stack.select(["part-9"])


def test_adapters_for_other_layers_or_models_are_refused(public: PublicModel) -> None:
    transformer = read_transformer(public.model)
    with pytest.raises(ModelUnavailable, match="4 layers"):
        transformer.places(LoraShape(layers=5))
    with pytest.raises(ModelUnavailable, match="no linear module"):
        transformer.places(LoraShape(layers=1, targets=("attn.unknown",)))
    foreign = fresh_stack({(3, "a"): (4, 4)}, LoraShape(layers=1, rank=2), ["x"], [0])
    with pytest.raises(InputError, match="another model"):
        Ensemble(public, foreign)


def test_float16_weights_keep_the_law(public: PublicModel) -> None:
    stack = random_stack(public, 3, SHAPE)
    exact, fast = (
        transcript(FastEnsemble(public, stack, precision), PROMPT, [9, 30]).log_softmax(-1)
        for precision in get_args(Precision)
    )
    divergence = (exact.exp() * (exact - fast)).sum(-1)
    assert divergence.max() < 1e-4


@pytest.mark.parametrize("with_bias", [False, True])
def test_a_frozen_linear_layer_is_a_linear_layer_in_both_directions(with_bias: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    weight = torch.randn(24, 16, generator=generator)
    bias = torch.randn(24, generator=generator) if with_bias else None
    layer = FrozenLinear([weight[:10], weight[10:]], bias)
    x = torch.randn(5, 3, 16, generator=generator, requires_grad=True)
    y = layer(x)
    torch.testing.assert_close(y, torch.nn.functional.linear(x, weight, bias))
    pull = torch.randn(y.shape, generator=generator)
    (gradient,) = torch.autograd.grad(y, x, pull)
    torch.testing.assert_close(gradient, pull @ weight)
