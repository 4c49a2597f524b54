"""A straight-line forward pass over the weights of a transformers causal LM, with adapters in any layer.

Two families: Llama and GPT-2. Norms, rotary embeddings and embeddings are the model's own modules; the linear
layers are its weights, those that read the same input fused into one. No dropout, no padding: every row of
a batch has the same positions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.nn import functional as F

from core.errors import ModelUnavailable
from core.lm.cache import KeyValues, attend
from core.lm.linear import FrozenLinear, Precision
from core.lm.stack import Lora, LoraShape, Place

Activation = Callable[[list[torch.Tensor]], torch.Tensor]
Rotation = tuple[torch.Tensor, torch.Tensor] | None
Norm = Callable[[torch.Tensor], torch.Tensor]
NO_ADAPTERS: Mapping[str, Lora] = {}


class Projection:
    """Linear modules that read the same input, as one matrix product; each may carry an adapter."""

    def __init__(self, modules: Mapping[str, Any], precision: Precision) -> None:
        self.names = list(modules)
        weights = [_weight(module) for module in modules.values()]
        biases = [module.bias for module in modules.values()]
        self.sizes = [weight.shape[0] for weight in weights]
        self.width = weights[0].shape[1]
        bias = torch.cat(biases) if all(b is not None for b in biases) else None
        self.linear = FrozenLinear(weights, bias, precision)

    def __call__(self, x: torch.Tensor, adapters: Mapping[str, Lora]) -> list[torch.Tensor]:
        """One output per module; x (rows, T, in)."""
        outputs = self.linear(x).split(self.sizes, dim=-1)
        return [
            adapters[n].add(x, y) if n in adapters else y for n, y in zip(self.names, outputs, strict=True)
        ]


@dataclass(frozen=True)
class Block:
    """One layer: attention over the cache, then the feed-forward part, each on a residual."""

    number: int
    attention_norm: Norm
    qkv: Projection
    out: Projection
    feed_norm: Norm
    up: Projection
    down: Projection
    activation: Activation
    head_size: int
    scaling: float

    def __call__(
        self,
        x: torch.Tensor,
        rotation: Rotation,
        cache: KeyValues | None,
        adapters: Mapping[str, Lora] = NO_ADAPTERS,
        *,
        last_only: bool = False,
    ) -> torch.Tensor:
        """x (rows, T, H) to (rows, T, H); the cache holds the keys and values of the positions before.

        With `last_only` the result is (rows, 1, H): all that the last layer of a prompt is asked for.
        """
        rows, length, _ = x.shape
        qkv = self.qkv(self.attention_norm(x), adapters)
        if len(qkv) == 1:  # GPT-2 has one module for all three
            qkv = list(qkv[0].chunk(3, dim=-1))
        q, k, v = (part.view(rows, length, -1, self.head_size).transpose(1, 2) for part in qkv)
        if rotation is not None:
            q, k = _rotate(q, rotation), _rotate(k, rotation)
        if cache is not None:
            k, v = cache.append(self.number, k, v)
        if last_only:
            q, x, length = q[:, :, -1:], x[:, -1:], 1
        attended = attend(q, k, v, self.scaling)  # (rows, heads, T, head)
        x = x + self.out(attended.transpose(1, 2).reshape(rows, length, -1), adapters)[0]
        inner = self.activation(self.up(self.feed_norm(x), adapters))
        return x + self.down(inner, adapters)[0]

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All linear layers of the block."""
        return (self.qkv, self.out, self.up, self.down)

    def targets(self) -> dict[str, tuple[int, int]]:
        """(in, out) of every linear module by its name inside the layer."""
        return {
            name: (projection.width, size)
            for projection in self.projections
            for name, size in zip(projection.names, projection.sizes, strict=True)
        }


@dataclass(frozen=True, eq=False)
class Transformer:
    """The whole public model, block by block."""

    blocks: list[Block]
    embed: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # tokens (B, T), positions (T,) -> (B, T, H)
    rotation: Callable[[torch.Tensor, torch.Tensor], Rotation]  # x, positions (T,)
    final_norm: Norm
    head: FrozenLinear
    context: int
    fan_in_fan_out: bool
    prefix: str  # of the layers' names in the model

    @property
    def width(self) -> int:
        """The width H of the hidden states."""
        return self.blocks[0].qkv.width

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(..., H) to (..., V)."""
        return self.head(self.final_norm(x))

    def places(self, shape: LoraShape) -> dict[Place, tuple[int, int]]:
        """(in, out) of every module that adapters of this shape sit on."""
        if not 1 <= shape.layers <= len(self.blocks):
            raise ModelUnavailable(
                f"The model has {len(self.blocks)} layers; {shape.layers} cannot carry adapters."
            )
        known = self.blocks[0].targets()
        for target in shape.targets:
            if target not in known:
                raise ModelUnavailable(
                    f"The model has no linear module {target!r}; it has {', '.join(known)}."
                )
        return {
            (block.number, target): sizes
            for block in self.blocks[-shape.layers :]
            for target, sizes in block.targets().items()
            if not shape.targets or target in shape.targets
        }


_read: WeakKeyDictionary[Any, dict[Precision, Transformer]] = WeakKeyDictionary()


def read_transformer(model: Any, precision: Precision = "float32") -> Transformer:
    """The model's weights laid out for decoding: done once for each model, then shared, being read-only."""
    done = _read.setdefault(model, {})
    if precision not in done:
        readers = {"llama": _read_llama, "gpt2": _read_gpt2}
        kind = model.config.model_type
        if kind not in readers:
            raise ModelUnavailable(
                f"Models of type {kind!r} cannot carry an ensemble; those of Llama and GPT-2 type can."
            )
        done[precision] = readers[kind](model, precision)
    return done[precision]


def _read_llama(model: Any, precision: Precision) -> Transformer:
    inner, config = model.model, model.config
    blocks = [
        Block(
            number=number,
            attention_norm=_rms_norm(layer.input_layernorm),
            qkv=_project(layer, precision, "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            out=_project(layer, precision, "self_attn.o_proj"),
            feed_norm=_rms_norm(layer.post_attention_layernorm),
            up=_project(layer, precision, "mlp.gate_proj", "mlp.up_proj"),
            down=_project(layer, precision, "mlp.down_proj"),
            activation=_gated(layer.mlp.act_fn),
            head_size=layer.self_attn.head_dim,
            scaling=layer.self_attn.scaling,
        )
        for number, layer in enumerate(inner.layers)
    ]
    return Transformer(
        blocks=blocks,
        embed=lambda tokens, positions: inner.embed_tokens(tokens),
        rotation=lambda x, positions: inner.rotary_emb(x, position_ids=positions[None]),
        final_norm=_rms_norm(inner.norm),
        head=_head(model, precision),
        context=config.max_position_embeddings,
        fan_in_fan_out=False,
        prefix="model.layers",
    )


def _read_gpt2(model: Any, precision: Precision) -> Transformer:
    inner, config = model.transformer, model.config
    blocks = [
        Block(
            number=number,
            attention_norm=layer.ln_1,
            qkv=_project(layer, precision, "attn.c_attn"),
            out=_project(layer, precision, "attn.c_proj"),
            feed_norm=layer.ln_2,
            up=_project(layer, precision, "mlp.c_fc"),
            down=_project(layer, precision, "mlp.c_proj"),
            activation=_plain(layer.mlp.act),
            head_size=layer.attn.head_dim,
            scaling=layer.attn.scaling,
        )
        for number, layer in enumerate(inner.h)
    ]
    return Transformer(
        blocks=blocks,
        embed=lambda tokens, positions: inner.wte(tokens) + inner.wpe(positions),
        rotation=lambda x, positions: None,
        final_norm=inner.ln_f,
        head=_head(model, precision),
        context=config.max_position_embeddings,
        fan_in_fan_out=True,
        prefix="transformer.h",
    )


def _project(layer: Any, precision: Precision, *names: str) -> Projection:
    return Projection({name: layer.get_submodule(name) for name in names}, precision)


def _head(model: Any, precision: Precision) -> FrozenLinear:
    head = model.get_output_embeddings()
    return FrozenLinear([head.weight], getattr(head, "bias", None), precision)


def _weight(module: Any) -> torch.Tensor:
    """The weight as (out, in); GPT-2's Conv1D keeps it the other way round."""
    return module.weight if isinstance(module, torch.nn.Linear) else module.weight.t()


def _rms_norm(module: Any) -> Norm:
    weight, epsilon = module.weight.detach(), module.variance_epsilon
    return lambda x: F.rms_norm(x, weight.shape, weight, epsilon)


def _gated(
    activation: Callable[[torch.Tensor], torch.Tensor],
) -> Activation:
    return lambda parts: activation(parts[0]) * parts[1]


def _plain(
    activation: Callable[[torch.Tensor], torch.Tensor],
) -> Activation:
    return lambda parts: activation(parts[0])


def _rotate(x: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Rotary position embedding of x (rows, heads, T, head)."""
    cos, sin = rotation  # (1, T, head)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
