"""m LoRA adapters of equal shape, stacked so that one batched product applies them all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from core.errors import InputError

# Where an adapter sits: the number of the layer, and the module inside that layer.
Place = tuple[int, str]


@dataclass(frozen=True)
class LoraShape:
    """What all adapters of a stack share. W x becomes W x + (alpha / rank) B A x in the top `layers` layers.

    `targets` are module names inside a layer, such as `self_attn.q_proj`; empty means every linear module.
    """

    layers: int = 8
    rank: int = 8
    alpha: float = 16.0
    targets: tuple[str, ...] = ()

    @property
    def scale(self) -> float:
        """The factor before B A x."""
        return self.alpha / self.rank


@dataclass(frozen=True)
class Lora:
    """The adapters of all rows at one place. Row j adds scale * (x A_j) B_j."""

    a: torch.Tensor  # (m, in, rank)
    b: torch.Tensor  # (m, rank, out)
    scale: float

    def add(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """y + scale * (x A) B; x (m * b, T, in) and y (m * b, T, out), b sequences for each of the m rows."""
        rows = len(self.a)
        inner = torch.bmm(x.reshape(rows, -1, x.shape[-1]), self.a)  # (m, b * T, rank)
        return torch.baddbmm(y.reshape(rows, -1, y.shape[-1]), inner, self.b, alpha=self.scale).view(y.shape)


@dataclass(frozen=True)
class AdapterStack:
    """Named adapters of one shape. A row whose B is zero is the public model."""

    shape: LoraShape
    names: tuple[str, ...]
    places: Mapping[Place, Lora]

    def __len__(self) -> int:
        return len(self.names)

    def select(self, names: Sequence[str]) -> "AdapterStack":
        """The rows of these names, in this order."""
        missing = sorted(set(names) - set(self.names))
        if missing:
            raise InputError(
                f"The ensemble has no adapter named {missing[0]!r}; it has {', '.join(self.names)}."
            )
        rows = torch.tensor([self.names.index(name) for name in names], dtype=torch.long)
        return replace(
            self, names=tuple(names), places={key: _rows(lora, rows) for key, lora in self.places.items()}
        )

    def without(self, names: Sequence[str]) -> "AdapterStack":
        """The same slots with these rows answering as the public model: no shape changes."""
        keep = torch.tensor([name not in names for name in self.names]).view(-1, 1, 1)
        places = {key: replace(lora, b=lora.b * keep) for key, lora in self.places.items()}
        return replace(self, places=places)

    def lower_rank(self, rank: int) -> "AdapterStack":
        """The nearest adapters of a rank: each product A_j B_j keeps its `rank` largest singular values.

        Row j of the answer depends on row j alone. Nothing changes where the rank is the stack's own.
        """
        if not 1 <= rank <= self.shape.rank:
            raise InputError(f"The rank to keep lies between 1 and {self.shape.rank} (it is {rank}).")
        if rank == self.shape.rank:
            return self
        shape = replace(self.shape, rank=rank, alpha=self.shape.scale * rank)
        return replace(
            self, shape=shape, places={key: _nearest(lora, rank) for key, lora in self.places.items()}
        )

    def with_public_row(self) -> "AdapterStack":
        """One more row in front, whose adapter is zero: the public model in the same batch."""
        return replace(
            self,
            names=("public", *self.names),
            places={
                key: replace(lora, a=_zero_in_front(lora.a), b=_zero_in_front(lora.b))
                for key, lora in self.places.items()
            },
        )

    def layer(self, number: int) -> dict[str, Lora]:
        """The adapters inside one layer, by module name."""
        return {target: lora for (layer, target), lora in self.places.items() if layer == number}

    def tensors(self) -> Iterator[tuple[Place, torch.Tensor, torch.Tensor]]:
        """Every place with its stacked A and B."""
        for place, lora in self.places.items():
            yield place, lora.a, lora.b

    @property
    def parameters(self) -> int:
        """The number of parameters of one adapter."""
        return sum(a[0].numel() + b[0].numel() for _, a, b in self.tensors())


def fresh_stack(
    sizes: Mapping[Place, tuple[int, int]], shape: LoraShape, names: Sequence[str], seeds: Sequence[int]
) -> AdapterStack:
    """Untrained adapters as PEFT starts them: A uniform in +-1/sqrt(in), B zero; each row from its own seed.

    `sizes` gives (in, out) for each place.
    """
    if len(set(names)) != len(names):
        raise InputError("Two adapters of an ensemble cannot have the same name.")
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    places = {}
    for place, (width, out) in sorted(sizes.items()):
        bound = width**-0.5
        rows = [(torch.rand(width, shape.rank, generator=g) * 2 - 1) * bound for g in generators]
        a = torch.stack(rows) if rows else torch.zeros(0, width, shape.rank)
        places[place] = Lora(a, torch.zeros(len(rows), shape.rank, out), shape.scale)
    return AdapterStack(shape, tuple(names), places)


def _rows(lora: Lora, rows: torch.Tensor) -> Lora:
    return replace(lora, a=lora.a[rows], b=lora.b[rows])


def _nearest(lora: Lora, rank: int) -> Lora:
    """Truncated singular values of A B, found in the small space between the two."""
    left, inner_left = torch.linalg.qr(lora.a)  # (m, in, r), (m, r, r)
    right, inner_right = torch.linalg.qr(lora.b.mT)  # (m, out, r), (m, r, r)
    u, values, v = torch.linalg.svd(inner_left @ inner_right.mT)
    root = values[:, :rank].sqrt()
    a = left @ (u[..., :rank] * root[:, None, :])
    b = (root[..., None] * v[:, :rank]) @ right.mT
    return replace(lora, a=a, b=b)


def _zero_in_front(tensor: torch.Tensor) -> torch.Tensor:
    return torch.cat((tensor.new_zeros(1, *tensor.shape[1:]), tensor))
