"""Reading a text that branches: what the branches share is read once, and each goes on from its own cache.

A search over candidates reads thousands of texts with one beginning. A `Branch` keeps the keys and values of
its own last token only, with a link to the branch that it grew from; a batch of branches of equal length is
read in one pass, for all models of a stack at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from core.errors import InputError
from core.lm.cache import KeyValues
from core.lm.linear import Precision
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack
from core.lm.transformer import read_transformer

_HEAD_ROWS = 64  # rows of logits at once: bounds the memory of the LM head


@dataclass(frozen=True, eq=False)
class Branch:
    """The models' memory of one text: by layer, the keys and values of its newest tokens.

    Shapes are (rows, heads, T, head): one row for the layers that all models share, one for each model above.
    """

    parent: "Branch | None"
    length: int
    keys: tuple[torch.Tensor, ...]
    values: tuple[torch.Tensor, ...]

    def line(self) -> Iterator["Branch"]:
        """This branch and those it grew from, the oldest first."""
        if self.parent is not None:
            yield from self.parent.line()
        yield self


class _Grown(KeyValues):
    """A cache for one pass over a batch of branches: their past in front, the new positions kept apart."""

    def __init__(self, lines: Sequence[Sequence[Branch]]) -> None:
        super().__init__()
        self._past = lines
        self.new: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def append(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """k and v (models * branches, heads, T, head), model by model."""
        self.new[layer] = (k, v)
        if not self._past[0]:
            return k, v
        return torch.cat((self._gather(layer, 0), k), 2), torch.cat((self._gather(layer, 1), v), 2)

    def _gather(self, layer: int, which: int) -> torch.Tensor:
        """The past of all branches: (models * branches, heads, S, head)."""
        columns = []
        for ancestors in zip(*self._past, strict=True):
            held = [(branch.keys if which == 0 else branch.values)[layer] for branch in ancestors]
            if all(branch is ancestors[0] for branch in ancestors):  # the prompt, which all of them share
                columns.append(held[0][:, None].expand(-1, len(held), -1, -1, -1))
            else:
                columns.append(torch.stack(held, dim=1))
        return torch.cat(columns, dim=3).flatten(0, 1)


class Branches:
    """Grows branches of text under a stack of models; counts the tokens that it had to read.

    The rows are the adapters of the stack, behind the public model where `public_row` is set. The arithmetic
    is that of `core.lm.ensemble`, so a target is read as it answers.
    """

    def __init__(
        self,
        public: PublicModel,
        stack: AdapterStack,
        *,
        public_row: bool = True,
        precision: Precision = "float16",
    ) -> None:
        rows = stack.with_public_row() if public_row else stack
        if not len(rows):
            raise InputError("There is no model to read with.")
        self.rows = len(rows)
        self.read = 0
        self._net = read_transformer(public.model, precision)
        adapted = stack.shape.layers if len(stack) else 0
        self._shared = len(self._net.blocks) - adapted
        self._top = [(block, rows.layer(block.number)) for block in self._net.blocks[self._shared :]]

    @torch.inference_mode()
    def start(self, prompt: Sequence[int]) -> tuple[Branch, torch.Tensor]:
        """Read the prompt; its branch, and next-token logits (rows, V)."""
        if not prompt:
            raise InputError("There are no tokens to read.")
        self._check(len(prompt))
        ((branch, logits),) = self._forward([None], [list(prompt)])
        return branch, logits

    @torch.inference_mode()
    def extend(self, branches: Sequence[Branch], tokens: Sequence[int]) -> list[tuple[Branch, torch.Tensor]]:
        """Each branch with one more token: the new branch, and next-token logits (rows, V)."""
        if len({branch.length for branch in branches}) != 1:
            raise InputError("Branches that are read together must have the same length.")
        self._check(branches[0].length + 1)
        return self._forward(list(branches), [[token] for token in tokens])

    def _check(self, length: int) -> None:
        if length > self._net.context:
            raise InputError(
                f"The text has {length:,} tokens; the model reads at most {self._net.context:,}."
            )

    def _forward(
        self, parents: Sequence[Branch | None], tokens: list[list[int]]
    ) -> list[tuple[Branch, torch.Tensor]]:
        net = self._net
        count, length = len(tokens), len(tokens[0])
        past = parents[0].length if parents[0] else 0
        cache = _Grown([list(parent.line()) if parent else [] for parent in parents])
        device = net.head.device
        positions = torch.arange(length, device=device) + past
        x = net.embed(torch.tensor(tokens, device=device), positions)  # (branches, T, H)
        rotation = net.rotation(x, positions)
        for block in net.blocks[: self._shared]:
            x = block(x, rotation, cache)
        x = x.expand(self.rows, *x.shape).flatten(0, 1)  # (models * branches, T, H)
        for block, adapters in self._top:
            x = block(x, rotation, cache, adapters, last_only=block is net.blocks[-1])
        self.read += count * length
        states = x[:, -1].view(self.rows, count, -1).transpose(0, 1)  # (branches, models, H)
        grown = self._split(cache, parents, past + length)
        chunk = max(1, _HEAD_ROWS // self.rows)
        logits = [row for part in states.split(chunk) for row in net.logits(part)]
        return list(zip(grown, logits, strict=True))

    def _split(self, cache: _Grown, parents: Sequence[Branch | None], length: int) -> list[Branch]:
        """What each branch keeps of a pass; copies, so that no branch keeps the whole batch alive."""
        layers = [cache.new[block.number] for block in self._net.blocks]
        count = len(parents)
        found = []
        for number, parent in enumerate(parents):
            keys, values = (
                tuple(pair[which].unflatten(0, (-1, count))[:, number].clone() for pair in layers)
                for which in (0, 1)
            )
            found.append(Branch(parent, length, keys, values))
        return found
