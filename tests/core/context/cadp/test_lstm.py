"""The written-out LSTM is torch's, and its per-sample gradients are autograd's, one by one."""

from collections.abc import Sequence

import pytest
import torch
from torch.nn import functional as F

from core.context.cadp.lstm import Lstm
from core.context.cadp.lstm_learner import LstmLM
from core.context.cadp.records import Records
from tests.core.context.cadp.learners import LENGTH, lstm, records, vocabulary


def torch_loss(weights: Sequence[torch.Tensor], tokens: tuple[int, ...]) -> torch.Tensor:
    """Summed loss of one record by torch's own LSTM cell, differentiable in our weights."""
    embedding, recurrent, head = weights
    width, hidden = embedding.shape[1], recurrent.shape[1] // 4
    inputs, targets = torch.tensor([0, *tokens]), torch.tensor([*tokens, 0])
    cell = torch.nn.LSTM(width, hidden)
    replaced = {
        "weight_ih_l0": recurrent[:width].t(),
        "weight_hh_l0": recurrent[width:-1].t(),
        "bias_ih_l0": recurrent[-1],
        "bias_hh_l0": torch.zeros(4 * hidden),
    }
    states, _ = torch.func.functional_call(cell, replaced, (embedding[inputs],))
    return F.cross_entropy(states @ head[:-1] + head[-1], targets, reduction="sum")


def one_by_one(data: Records, weights: Sequence[torch.Tensor]) -> list[list[torch.Tensor]]:
    """Autograd's gradients of every record by itself."""
    found = []
    for tokens in data.tokens:
        leaves = [w.detach().clone().requires_grad_() for w in weights]
        found.append(list(torch.autograd.grad(torch_loss(leaves, tokens) / LENGTH, leaves)))
    return found


def gathered(learner, chosen) -> list[torch.Tensor]:
    """Per-sample gradients in the order of `chosen`, whatever the portions."""
    by_length = chosen[torch.argsort(learner.records.lengths[chosen], stable=True)]
    parts = [measured.gradients for measured in learner.per_sample(chosen)]
    stacked = [torch.cat(list(column)) for column in zip(*parts, strict=True)]
    back = torch.argsort(by_length, stable=True)
    return [tensor[back] for tensor in stacked]


def test_per_sample_gradients_are_those_of_autograd_one_by_one():
    learner = lstm()
    wanted = one_by_one(learner.records, learner.parameters)
    got = gathered(learner, torch.arange(len(learner.records)))
    for number, gradients in enumerate(wanted):
        for tensor, gradient in zip(got, gradients, strict=True):
            torch.testing.assert_close(tensor[number], gradient, rtol=1e-4, atol=1e-6)


def test_the_summed_gradient_is_the_sum_of_the_per_sample_ones():
    learner = lstm()
    chosen = torch.tensor([3, 5, 8, 21])
    alone = gathered(learner, chosen)
    together = [sum(c) for c in zip(*(m.gradients for m in learner.summed(chosen)), strict=True)]
    for tensor, total in zip(alone, together, strict=True):
        torch.testing.assert_close(tensor.sum(dim=0), total, rtol=1e-4, atol=1e-6)


def test_a_record_has_the_same_loss_whatever_stands_beside_it():
    data = records()
    model = LstmLM(Lstm(*(p.detach() for p in lstm(data).parameters)), vocabulary())
    losses = model.losses(data)
    for number, tokens in enumerate(data.tokens):
        wanted = torch_loss(list(model.lstm.tensors), tokens)
        torch.testing.assert_close(losses[number], wanted, rtol=1e-5, atol=1e-5)


def test_losses_are_reported_in_nats_a_token():
    learner = lstm()
    chosen = torch.tensor([2])
    (measured,) = learner.per_sample(chosen)
    nats = torch_loss(learner.parameters, learner.records.tokens[2]) / learner.records.lengths[2]
    assert measured.losses[0].item() == pytest.approx(nats.item(), rel=1e-5)


def test_the_paper_s_size_is_the_default():
    model = Lstm.fresh(1000, seed=0)
    assert [tuple(tensor.shape) for tensor in model.tensors] == [(1000, 200), (401, 800), (201, 1000)]
    assert torch.equal(Lstm.fresh(1000, seed=0).head, model.head)
    assert not torch.equal(Lstm.fresh(1000, seed=1).head, model.head)
