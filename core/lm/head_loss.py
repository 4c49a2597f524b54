"""Cross-entropy through the LM head in slices: never more than one slice of logits in memory.

The gradient of a slice is taken while its logits are there, loss_t = log sum exp(z_t) - z_t[target] and
d loss_t / d x_t = (softmax(z_t) - onehot) W, so that nothing is computed twice.
"""

from typing import Any

import torch

from core.lm.linear import FrozenLinear

_POSITIONS = 128


def head_losses(head: FrozenLinear, x: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Losses (N,) of the next tokens `targets` (N,) from states x (N, H); differentiable in x."""
    if torch.is_grad_enabled() and x.requires_grad:
        return _HeadLosses.apply(x, head, targets)
    return _losses(head, x, targets, None)


class _HeadLosses(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, head: FrozenLinear, targets: torch.Tensor) -> torch.Tensor:
        gradient = torch.empty_like(x)
        losses = _losses(head, x, targets, gradient)
        ctx.save_for_backward(gradient)
        return losses

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * gradients[0][:, None].to(gradient.dtype), None, None


def _losses(
    head: FrozenLinear, x: torch.Tensor, targets: torch.Tensor, gradient: torch.Tensor | None
) -> torch.Tensor:
    losses = torch.empty(len(x), dtype=torch.float32, device=x.device)
    for start in range(0, len(x), _POSITIONS):
        part = slice(start, start + _POSITIONS)
        logits = head.forward(x[part])  # (t, V)
        wanted = targets[part, None]
        total = logits.float().logsumexp(dim=-1, keepdim=True)
        losses[part] = (total - logits.gather(1, wanted))[:, 0]
        if gradient is not None:
            pmf = logits.sub_(total).exp_()
            pmf.scatter_add_(1, wanted, pmf.new_full((), -1.0).expand_as(wanted))
            gradient[part] = head.backward(pmf)
    return losses
