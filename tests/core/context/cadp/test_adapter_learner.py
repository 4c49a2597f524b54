"""Per-sample gradients of adapters are autograd's and Opacus' own, and cached states change nothing."""

import copy
import re

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch.nn import functional as F

from core.context.cadp import adapter_learner
from core.context.cadp.adapter_learner import AdapterLearner
from core.lm.ensemble import Ensemble
from core.lm.stack import AdapterStack, Lora
from core.lm.transformer import read_transformer
from tests.core.context.cadp.learners import LENGTH, SHAPE, adapter, public, records
from tests.core.context.cadp.test_lstm import gathered

KINDS = ["llama", "gpt2"]


def plain_loss(learner: AdapterLearner, kind: str, weights: list[torch.Tensor], number: int) -> torch.Tensor:
    """The loss of one record through the ordinary stacked adapters, by autograd alone."""
    transformer = read_transformer(public(kind).model)
    inputs, targets, _ = learner.records.padded([number])
    positions = torch.arange(inputs.shape[1])
    x = transformer.embed(inputs, positions)
    rotation = transformer.rotation(x, positions)
    pairs = zip(learner._places, weights[::2], weights[1::2], strict=True)
    stack = AdapterStack(SHAPE, ("x",), {place: Lora(a[None], b[None], SHAPE.scale) for place, a, b in pairs})
    for block in transformer.blocks:
        x = block(x, rotation, None, stack.layer(block.number))
    return F.cross_entropy(transformer.logits(x)[0], targets[0], reduction="sum") / LENGTH


@pytest.mark.parametrize("kind", KINDS)
def test_per_sample_gradients_are_those_of_autograd_one_by_one(kind):
    learner = adapter(records(8), kind)
    got = gathered(learner, torch.arange(8))
    for number in range(8):
        leaves = [p.detach().clone().requires_grad_() for p in learner.parameters]
        wanted = torch.autograd.grad(plain_loss(learner, kind, leaves, number), leaves)
        for tensor, gradient in zip(got, wanted, strict=True):
            torch.testing.assert_close(tensor[number], gradient, rtol=2e-4, atol=1e-6)


def test_per_sample_gradients_are_those_of_opacus_on_the_peft_model():
    from opacus.grad_sample import GradSampleModule

    learner = adapter(records(6))
    layers = public().model.config.num_hidden_layers
    config = LoraConfig(
        r=SHAPE.rank,
        lora_alpha=SHAPE.alpha,
        target_modules=sorted({target.split(".")[-1] for _, target in learner._places}),
        layers_to_transform=list(range(layers - SHAPE.layers, layers)),
    )
    model = get_peft_model(copy.deepcopy(public().model), config).train()
    parts = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            layer, target, side = re.findall(r"\.(\d+)\.(.+)\.lora_([AB])", name)[0]
            at = learner._places.index((int(layer), target))
            parts[2 * at + (side == "B")] = p
            p.data.copy_(learner.parameters[2 * at + (side == "B")].detach().t())
    wrapped = GradSampleModule(model, batch_first=True, loss_reduction="sum")
    inputs, targets, weights = learner.records.padded(range(6))
    logits = wrapped(input_ids=inputs, attention_mask=torch.ones_like(inputs)).logits
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    ((losses * weights).sum() / LENGTH).backward()
    for number, tensor in enumerate(gathered(learner, torch.arange(6))):
        wanted = parts[number].grad_sample.transpose(1, 2)
        torch.testing.assert_close(tensor, wanted, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_summed_gradient_is_the_sum_of_the_per_sample_ones(kind):
    learner = adapter(kind=kind)
    chosen = torch.tensor([1, 4, 9, 16, 23])
    together = [sum(c) for c in zip(*(m.gradients for m in learner.summed(chosen)), strict=True)]
    for tensor, total in zip(gathered(learner, chosen), together, strict=True):
        torch.testing.assert_close(tensor.sum(dim=0), total, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_cached_states_of_the_frozen_layers_change_nothing(kind, tmp_path, monkeypatch):
    chosen = torch.tensor([0, 2, 7, 11])
    fresh = gathered(adapter(kind=kind), chosen)
    for kept_in_a_file in (False, True):
        if kept_in_a_file:
            monkeypatch.setattr("core.lm.checkpoint._IN_MEMORY", 0)
        learner, seen = adapter(kind=kind), []
        learner.prepare(tmp_path, seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        for tensor, wanted in zip(gathered(learner, chosen), fresh, strict=True):
            torch.testing.assert_close(tensor, wanted, rtol=1e-4, atol=1e-6)
        learner.close()
    assert not list(tmp_path.iterdir())


def test_states_that_are_too_large_for_memory_are_computed_again_instead(monkeypatch):
    monkeypatch.setattr(adapter_learner, "_KEPT", 0)
    learner = adapter()
    learner.prepare(None, lambda share: None)
    assert learner._states is None
    assert len(gathered(learner, torch.arange(3))) == len(learner.parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_the_trained_adapter_answers_as_an_ensemble_of_one(kind):
    learner = adapter(kind=kind)
    tokens = [0, *learner.records.tokens[5], 0]
    ensemble = Ensemble(public(kind), learner.trained(), "float32")
    wanted = learner.losses(torch.tensor([5]))
    assert float(-ensemble.log_likelihoods(tokens)[1].sum()) == pytest.approx(float(wanted[0]), rel=1e-4)
    assert ensemble.names == ("public", "cadp")
