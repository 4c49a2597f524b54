"""One private and one plain gradient of the same weights: lines 4 and 5 of Algorithm 1, on Opacus.

    private   (sum over the flagged i of g_i min(1, C / |g_i|) + sigma C N(0, I)) / L
    plain     (sum over the others of g_i) / L

Opacus clips, sums, adds the noise, divides and accounts; what it is given are the per-sample gradients, which
each model computes in its own cheap way. L is the expected size of the whole batch in both: a public number,
where the count of flagged sequences would be a private one, and one that weighs all sequences alike.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from opacus.optimizers import DPOptimizer

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.randomness import Randomness
from core.context.cadp.records import Records


class Measured(NamedTuple):
    """What one portion of a batch gave: losses of its sequences, and a gradient tensor for each parameter.

    `Learner.per_sample` gives gradients of every sequence, (b, *shape); `Learner.summed` sums, (*shape).
    """

    losses: torch.Tensor  # (b,) in nats a token
    gradients: list[torch.Tensor]


class Learner(Protocol):
    """A model with its sequences, as DP-SGD sees it.

    Sequence i's loss and gradient are functions of sequence i and the weights alone. A batch may be walked in
    portions, so that memory stays bounded.
    """

    records: Records
    parameters: list[torch.nn.Parameter]
    preparation: float  # the work of `prepare`, where one pass over the records is 1

    def prepare(self, folder: Path | None, report: Callable[[float], None]) -> None:
        """Compute once what every pass needs; `report` is told the share that is done."""

    def close(self) -> None:
        """Let go of what `prepare` computed."""

    def per_sample(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The gradient of every chosen sequence by itself."""

    def summed(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The sum of the gradients of the chosen sequences."""


class PrivateOptimizer(DPOptimizer):
    """Opacus' optimizer with noise from a source of our own."""

    def __init__(self, optimizer: torch.optim.Optimizer, *, source: Randomness, **settings: Any) -> None:
        super().__init__(optimizer, **settings)
        self.source = source

    def add_noise(self) -> None:
        """p.grad = sum of clipped gradients + sigma C N(0, I)."""
        scale = self.noise_multiplier * self.max_grad_norm
        for p in self.params:
            total = p.summed_grad
            if scale:
                total = total + self.source.normal(p.shape).to(total.device).mul_(scale)
            p.grad = total.view_as(p)


def private_optimizer(
    optimizer: torch.optim.Optimizer,
    *,
    noise: float,
    clip: float,
    batch: float,
    rate: float,
    source: Randomness,
    account: PrivacyAccount,
) -> PrivateOptimizer:
    """The optimizer of the private updates; each is accounted, of whatever size its batch came out."""
    private = PrivateOptimizer(
        optimizer, source=source, noise_multiplier=noise, max_grad_norm=clip, expected_batch_size=batch
    )
    private.attach_step_hook(account.hook(rate))
    return private


def private_gradient(learner: Learner, chosen: torch.Tensor, optimizer: PrivateOptimizer) -> torch.Tensor:
    """Leave the private gradient of the chosen sequences in p.grad, accounted; returns their losses.

    An empty batch is noise alone, and is accounted like any other.
    """
    optimizer.zero_grad(set_to_none=True)
    losses = []
    for measured in learner.per_sample(chosen):
        _take(learner, measured.gradients)
        losses.append(measured.losses)
        optimizer.clip_and_accumulate()
    _take(learner, [p.new_zeros((0, *p.shape)) for p in learner.parameters])
    optimizer.pre_step()
    for p in learner.parameters:
        p.grad_sample = p.summed_grad = None  # type: ignore[attr-defined]
    return torch.cat(losses) if losses else torch.zeros(0)


def plain_gradient(learner: Learner, chosen: torch.Tensor, batch: float) -> torch.Tensor:
    """Add the plain gradient of the chosen sequences to p.grad; returns their losses."""
    losses = []
    totals = [torch.zeros_like(p) if p.grad is None else p.grad for p in learner.parameters]
    for measured in learner.summed(chosen):
        for total, gradient in zip(totals, measured.gradients, strict=True):
            total.add_(gradient / batch)
        losses.append(measured.losses)
    for p, total in zip(learner.parameters, totals, strict=True):
        p.grad = total
    return torch.cat(losses) if losses else torch.zeros(0)


def _take(learner: Learner, gradients: list[torch.Tensor]) -> None:
    for p, gradient in zip(learner.parameters, gradients, strict=True):
        p.grad_sample = gradient  # type: ignore[attr-defined]
