"""Frozen linear layers, laid out once for the processor's own matrix kernels.

Decoding multiplies one or a few dozen rows by each weight matrix, which is bound by reading the weights. Two
layouts, both with float32 inputs, sums and outputs:

- `float32`: oneDNN's blocked layout, about half the time of a plain `F.linear` at 17 rows, equal to it but
  for the order of the sums.
- `float16`: FBGEMM's, the weights rounded to float16, half the memory to read again. On the embedded model
  the next-token law moves by 4e-6 nats (Kullback-Leibler), far less than its 4-bit weights already cost.

Where neither applies (a GPU, a build without these kernels) it is `F.linear` on the weight as it is.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch.nn import functional as F

Precision = Literal["float32", "float16"]
_ROWS_HINT = 16


class FrozenLinear:
    """y = x W^T + b where neither W (out, in) nor b is trained; gradients flow to x.

    Several weights that read the same x are taken as one, their outputs side by side. The layout is made at
    the first use, so that a model which is only asked for its shape costs no memory.
    """

    def __init__(
        self,
        weights: Sequence[torch.Tensor],
        bias: torch.Tensor | None = None,
        precision: Precision = "float32",
    ) -> None:
        self._weights = [weight.detach() for weight in weights]
        self._bias = None if bias is None else bias.detach()
        self.out_features = sum(weight.shape[0] for weight in weights)
        self.device = self._weights[0].device
        self._precision = precision
        self._ready = False
        self._half: Any = None
        self._packed: torch.Tensor | None = None
        self._packed_transposed: torch.Tensor | None = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Apply to the last dimension of x; differentiable in x."""
        if torch.is_grad_enabled() and x.requires_grad:
            return _FrozenLinearFunction.apply(x, self)
        return self.forward(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x W^T + b, outside of autograd."""
        if not self._ready:
            self._lay_out()
        if self._half is not None:
            return torch.ops.quantized.linear_dynamic_fp16(x.contiguous(), self._half)
        if self._packed is not None and x.dtype == torch.float32:
            return _multiply(x, self._packed, self._bias)
        return F.linear(x, self._weight().to(x.dtype), None if self._bias is None else self._bias.to(x.dtype))

    def backward(self, gradient: torch.Tensor) -> torch.Tensor:
        """gradient W: what reaches x."""
        if self._packed_transposed is None:
            self._packed_transposed = _pack(self._weight().t())
        if self._packed_transposed is not None and gradient.dtype == torch.float32:
            return _multiply(gradient, self._packed_transposed, None)
        return gradient @ self._weight().to(gradient.dtype)

    def _lay_out(self) -> None:
        if self._precision == "float16":
            self._half = _pack_half(self._weight(), self._bias)
        if self._half is None:
            self._packed = _pack(self._weight())
        if self._half is None and self._packed is None:
            self._weights = [self._weight()]
        self._ready = True

    def _weight(self) -> torch.Tensor:
        return self._weights[0] if len(self._weights) == 1 else torch.cat(self._weights)


class _FrozenLinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, layer: FrozenLinear) -> torch.Tensor:
        ctx.layer = layer
        return layer.forward(x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.layer.backward(gradients[0]), None


def _pack(weight: torch.Tensor) -> torch.Tensor | None:
    """The weight in oneDNN's layout, where that applies."""
    fits = weight.device.type == "cpu" and weight.dtype == torch.float32
    if not (fits and torch.backends.mkldnn.is_available() and _has("mkldnn", "_reorder_linear_weight")):
        return None
    with torch.no_grad():
        return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS_HINT)


def _pack_half(weight: torch.Tensor, bias: torch.Tensor | None) -> Any:
    """The weight in FBGEMM's layout, where that applies."""
    fits = weight.device.type == "cpu" and weight.dtype == torch.float32
    if not (fits and "fbgemm" in torch.backends.quantized.supported_engines):
        return None
    if not _has("quantized", "linear_dynamic_fp16"):
        return None
    return torch.ops.quantized.linear_prepack_fp16(weight.contiguous(), bias)


def _multiply(x: torch.Tensor, packed: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise.default(x.contiguous(), packed, bias, "none", [], "")


def _has(library: str, operation: str) -> bool:
    return hasattr(getattr(torch.ops, library), operation)
