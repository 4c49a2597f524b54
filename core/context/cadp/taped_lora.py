"""Adapters that remember, in a backward pass, what the gradient of each sequence by itself is made of.

An adapter adds s (x A) B to the output of its module. For one sequence, with inputs x (T, in) and the
gradient g (T, out) that arrives at the output,

    grad A = x^T (s g B^T),     grad B = (x A)^T (s g)

so the per-sample gradients of a whole batch are two batched products of rank size. Autograd itself runs once
over the batch, with one copy of A and B for all.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from core.lm.stack import Lora


@dataclass(frozen=True)
class TapedLora(Lora):
    """One adapter, A (in, rank) and B (rank, out), and the tape of the last backward pass."""

    tape: list[torch.Tensor] = field(default_factory=list)

    def add(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """y + scale * (x A) B; x (b, T, in) and y (b, T, out)."""
        return _Add.apply(x, y, self)

    def per_sample(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients (b, in, rank) and (b, rank, out) of every sequence; the tape is used up."""
        x, inner, below, above = self._play()
        return torch.bmm(x.transpose(1, 2), below), torch.bmm(inner.transpose(1, 2), above)

    def summed(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients (in, rank) and (rank, out), summed over the sequences; the tape is used up."""
        x, inner, below, above = (part.flatten(0, 1) for part in self._play())
        return x.t() @ below, inner.t() @ above

    def _play(self) -> list[torch.Tensor]:
        played = list(self.tape)
        self.tape.clear()
        return played


class _Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, lora: TapedLora) -> torch.Tensor:
        inner = x @ lora.a  # (b, T, rank)
        ctx.save_for_backward(x, inner)
        ctx.lora = lora
        rows = inner.flatten(0, 1)
        return torch.addmm(y.reshape(-1, y.shape[-1]), rows, lora.b, alpha=lora.scale).view(y.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        lora, (x, inner), arrived = ctx.lora, ctx.saved_tensors, gradients[0]
        above = arrived * lora.scale  # (b, T, out)
        below = above @ lora.b.t()  # (b, T, rank)
        lora.tape[:] = [x.detach(), inner, below, above]
        return below @ lora.a.t(), arrived, None
