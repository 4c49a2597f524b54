"""A LoRA adapter of the public model as a learner: frozen lower layers once, per-sample gradients on top."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import torch

from core.context.cadp.dpsgd import Measured
from core.context.cadp.records import Records, portions
from core.context.cadp.taped_lora import TapedLora
from core.lm.checkpoint import StateCache
from core.lm.head_loss import head_losses
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, Lora, LoraShape, fresh_stack
from core.lm.training import step_work
from core.lm.transformer import Transformer, read_transformer

# Positions that go through the layers at once: a processor is full, and memory stays small.
_POSITIONS = 1024
# States of the frozen layers above this many bytes are kept only where there is a folder for them.
_KEPT = 2 << 30


class AdapterLearner:
    """One adapter on the top layers of the public model, and the records that it learns from.

    The frozen layers below hand up the same states in every pass, so these are computed once. The loss of a
    record is the sum over its tokens divided by `length`, a public number: all tokens weigh alike.
    """

    def __init__(
        self,
        public: PublicModel,
        records: Records,
        shape: LoraShape,
        *,
        length: int,
        name: str = "cadp",
        seed: int = 0,
        keep_states: bool = True,
    ) -> None:
        self.records, self.shape, self.name = records, shape, name
        self._length = float(length)
        self._transformer: Transformer = read_transformer(public.model)
        self._shared = len(self._transformer.blocks) - shape.layers
        fresh = fresh_stack(self._transformer.places(shape), shape, [name], [seed])
        self._places = sorted(fresh.places)
        self.parameters = [
            torch.nn.Parameter(tensor[0].clone().to(self._transformer.head.device))
            for place in self._places
            for tensor in (fresh.places[place].a, fresh.places[place].b)
        ]
        self._loras = {
            place: TapedLora(a.detach(), b.detach(), shape.scale)
            for place, a, b in zip(self._places, self.parameters[::2], self.parameters[1::2], strict=True)
        }
        self._keep = keep_states
        self._states: StateCache | None = None
        self._starts = records.lengths.cumsum(0) - records.lengths
        self.preparation = self._shared / step_work(shape.layers) if keep_states else 0.0

    def prepare(self, folder: Path | None, report: Callable[[float], None]) -> None:
        """Compute what the frozen layers hand up for every record, once."""
        positions = int(self.records.lengths.sum())
        large = 4 * positions * self._transformer.width > _KEPT
        if not self._keep or not positions or (large and folder is None):
            return
        states, done = StateCache((positions, 1, self._transformer.width), folder, self.name), 0
        for portion in portions(self.records, torch.arange(len(self.records)), _POSITIONS):
            inputs, _, _ = self.records.padded(portion)
            x = self._trunk(inputs.to(self._transformer.head.device)).cpu()
            for row, number in enumerate(portion):
                length = int(self.records.lengths[number])
                states.write(int(self._starts[number]), x[row, :length, None])
                done += length
            report(done / positions)
        self._states = states

    def per_sample(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The gradient of every chosen record by itself."""
        for portion in portions(self.records, chosen, _POSITIONS):
            losses = self._backward(portion)
            yield Measured(losses, [g for place in self._places for g in self._loras[place].per_sample()])

    def summed(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The sum of the chosen records' gradients."""
        for portion in portions(self.records, chosen, _POSITIONS):
            losses = self._backward(portion)
            yield Measured(losses, [g for place in self._places for g in self._loras[place].summed()])

    @torch.no_grad()
    def losses(self, chosen: torch.Tensor) -> torch.Tensor:
        """Nats of each chosen record, over all of its tokens: (b,)."""
        found = torch.zeros(len(self.records))
        for portion in portions(self.records, chosen, _POSITIONS):
            x, targets, weights = self._gather(portion)
            found[portion] = (self._forward(x, targets) * weights).sum(dim=1).cpu()
        return found[chosen]

    def trained(self) -> AdapterStack:
        """The adapter as it is now, as a stack of one row."""
        places = {
            place: Lora(lora.a.cpu()[None].clone(), lora.b.cpu()[None].clone(), self.shape.scale)
            for place, lora in self._loras.items()
        }
        return AdapterStack(replace(self.shape), (self.name,), places)

    def close(self) -> None:
        """Let go of the cached states."""
        if self._states is not None:
            self._states.close()
            self._states = None

    @torch.enable_grad()
    def _backward(self, portion: list[int]) -> torch.Tensor:
        """Fill the adapters' tapes; returns nats a token of each record."""
        x, targets, weights = self._gather(portion)
        x.requires_grad_()
        losses = self._forward(x, targets) * weights
        torch.autograd.grad(losses.sum() / self._length, x)
        return (losses.detach().sum(dim=1) / weights.sum(dim=1)).cpu()

    def _forward(self, x: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Next-token losses (b, T) from the states x (b, T, H) of the frozen layers."""
        rotation = self._transformer.rotation(x, torch.arange(x.shape[1], device=x.device))
        for block in self._transformer.blocks[self._shared :]:
            adapters = {
                target: lora for (layer, target), lora in self._loras.items() if layer == block.number
            }
            x = block(x, rotation, None, adapters)
        x = self._transformer.final_norm(x)
        losses = head_losses(self._transformer.head, x.reshape(-1, x.shape[-1]), targets.reshape(-1))
        return losses.view(targets.shape)

    def _gather(self, portion: list[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        inputs, targets, weights = self.records.padded(portion)
        device = self._transformer.head.device
        if self._states is None:
            x = self._trunk(inputs.to(device))
        else:
            # Where a record was filled up it reads some other state, which nothing before it can see.
            places = self._starts[portion, None] + torch.arange(inputs.shape[1])
            places *= weights.long()
            x = self._states.read(places.flatten().tolist()).view(*inputs.shape, -1)
        return x.to(device), targets.to(device), weights.to(device)

    @torch.no_grad()
    def _trunk(self, inputs: torch.Tensor) -> torch.Tensor:
        """What the frozen layers hand up: tokens (b, T) to states (b, T, H)."""
        positions = torch.arange(inputs.shape[1], device=inputs.device)
        x = self._transformer.embed(inputs, positions)
        rotation = self._transformer.rotation(x, positions)
        for block in self._transformer.blocks[: self._shared]:
            x = block(x, rotation, None)
        return x
