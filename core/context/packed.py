"""Linear maps laid out for oneDNN, for models that only read.

torch multiplies 32-bit matrices with MKL, which on some processors does not use all that they have: on an AMD
with AVX-512 oneDNN took less than half the time. The weights are brought into its layout once. Sums are the
same numbers in another order.
"""

import copy
from functools import lru_cache

import torch
from torch import nn


class PackedLinear(nn.Module):
    """A linear map of which only the packed weights are kept; float32, no gradients."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self._bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """W x + b."""
        made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return made


def pack(model: nn.Module) -> nn.Module:
    """The same model with its linear maps replaced, in place; unchanged where torch came without oneDNN."""
    if torch.backends.mkldnn.is_available():
        for name, inner in model.named_children():
            if isinstance(inner, nn.Linear) and inner.weight.dtype == torch.float32:
                setattr(model, name, PackedLinear(inner))
            else:
                pack(inner)
    return model


@lru_cache(maxsize=2)
def packed(model: nn.Module) -> nn.Module:
    """A packed copy of a model that others use; the embeddings, which are no linear map, are shared."""
    shared = {id(inner): inner for inner in model.modules() if isinstance(inner, nn.Embedding)}
    return pack(copy.deepcopy(model, shared)).eval()
