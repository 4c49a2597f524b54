"""The key-value cache of one request, and attention over it."""

import torch
from torch.nn import functional as F

_FIRST_CAPACITY = 128


class KeyValues:
    """Keys and values of one request, by layer; room grows by doubling so that a step copies one position."""

    def __init__(self) -> None:
        self._layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._lengths: dict[int, int] = {}

    def append(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in k and v (rows, heads, T, head) and return all that the layer has seen so far."""
        start = self._lengths.get(layer, 0)
        end = start + k.shape[2]
        keys, values = self._room(layer, k, end)
        keys[:, :, start:end] = k
        values[:, :, start:end] = v
        self._lengths[layer] = end
        return keys[:, :, :end], values[:, :, :end]

    def _room(self, layer: int, like: torch.Tensor, needed: int) -> tuple[torch.Tensor, torch.Tensor]:
        held = self._layers.get(layer)
        if held is not None and held[0].shape[2] >= needed:
            return held
        capacity = max(_FIRST_CAPACITY, 2 ** (needed - 1).bit_length())
        rows, heads, _, size = like.shape
        grown = (like.new_empty(rows, heads, capacity, size), like.new_empty(rows, heads, capacity, size))
        if held is not None:
            for old, new in zip(held, grown, strict=True):
                new[:, :, : old.shape[2]] = old
        self._layers[layer] = grown
        return grown

    @property
    def bytes(self) -> int:
        """The memory held."""
        return sum(t.numel() * t.element_size() for pair in self._layers.values() for t in pair)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scaling: float) -> torch.Tensor:
    """Causal attention of the last T positions q (rows, heads, T, head) over S >= T positions k and v.

    k and v may have fewer heads, each shared by a group of q's.
    """
    rows, heads, length, size = q.shape
    shared, seen = k.shape[1], k.shape[2]
    if length == 1:
        # The heads of a group become the positions of one: nothing is masked, and nothing is copied.
        grouped = q.reshape(rows, shared, heads // shared, size)
        return F.scaled_dot_product_attention(grouped, k, v, scale=scaling).reshape(rows, heads, 1, size)
    if heads != shared:
        k, v = _repeat(k, heads // shared), _repeat(v, heads // shared)
    if length == seen:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling)
    mask = torch.ones(length, seen, dtype=torch.bool, device=q.device).tril(seen - length)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scaling)


def _repeat(x: torch.Tensor, times: int) -> torch.Tensor:
    """(rows, heads, S, head) to (rows, heads * times, S, head), each head `times` in a row."""
    rows, heads, seen, size = x.shape
    return x[:, :, None].expand(rows, heads, times, seen, size).reshape(rows, heads * times, seen, size)
