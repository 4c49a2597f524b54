"""One pass for all models: lower layers once, top layers in a batch of the public model and m adapters.

What the adapter in row j answers is a function of row j's weights and the tokens alone. Kernels may round
differently at different batch sizes, so the shapes are fixed by public numbers (the count of rows, the
prompt's length): a part that is missing keeps its slot as a zero adapter (`AdapterStack.without`), and the
other rows stay the same to the last bit.
"""

from collections.abc import Sequence

import torch

from core.errors import InputError
from core.lm.cache import KeyValues
from core.lm.linear import Precision
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack
from core.lm.transformer import Transformer, read_transformer

# Rows times positions in the top layers at once: bounds the memory of reading a long prompt.
_PREFILL_POSITIONS = 4096
_HEAD_POSITIONS = 16


class Ensemble:
    """The public model (row 0) and a stack of adapters (rows 1 to m); read-only, shared by all requests."""

    def __init__(self, public: PublicModel, stack: AdapterStack, precision: Precision = "float16") -> None:
        self.names = ("public", *stack.names)
        self.transformer: Transformer = read_transformer(public.model, precision)
        self.context = self.transformer.context
        self._vocabulary = self.transformer.head.out_features
        self._shared = len(self.transformer.blocks) - (stack.shape.layers if len(stack) else 0)
        if len(stack):
            _check_fit(stack, self.transformer)
        batch = stack.with_public_row()
        self._top = [(block, batch.layer(block.number)) for block in self.transformer.blocks[self._shared :]]

    @property
    def rows(self) -> int:
        """How many models answer: m + 1."""
        return len(self.names)

    def decoder(self) -> "EnsembleDecoder":
        """A fresh request."""
        return EnsembleDecoder(self)

    @torch.inference_mode()
    def states(self, tokens: Sequence[int]) -> torch.Tensor:
        """Last hidden states of every model at every position of a text: (rows, T, H)."""
        self.check(tokens, past=0)
        below, above = KeyValues(), KeyValues()
        return torch.cat(self._read(tokens, 0, below, above), dim=1)

    @torch.inference_mode()
    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """States (..., H) to next-token logits (..., V)."""
        return self.transformer.logits(states)

    @torch.inference_mode()
    def log_likelihoods(self, tokens: Sequence[int]) -> torch.Tensor:
        """Log-probability of each token but the first given those before, by every model: (rows, T - 1)."""
        states = self.states(tokens)[:, :-1]  # (rows, T - 1, H)
        targets = torch.tensor(tokens[1:], device=states.device).expand(self.rows, -1)
        found = []
        for part, wanted in zip(
            states.split(_HEAD_POSITIONS, dim=1), targets.split(_HEAD_POSITIONS, dim=1), strict=True
        ):
            logits = self.transformer.logits(part)  # (rows, t, V)
            found.append(logits.gather(-1, wanted[..., None])[..., 0] - logits.logsumexp(dim=-1))
        return torch.cat(found, dim=1)

    def check(self, tokens: Sequence[int], past: int) -> None:
        """Refuse what the model cannot read, in a sentence; nothing is cut off silently."""
        if not len(tokens):
            raise InputError("There are no tokens to read.")
        if past + len(tokens) > self.context:
            raise InputError(
                f"The text has {past + len(tokens):,} tokens; the model reads at most {self.context:,}."
            )
        if not all(0 <= token < self._vocabulary for token in tokens):
            raise InputError(f"A token lies outside of the model's vocabulary of {self._vocabulary:,}.")

    def _read(
        self, tokens: Sequence[int], past: int, below: KeyValues, above: KeyValues, *, last_only: bool = False
    ) -> list[torch.Tensor]:
        """Hidden states (rows, T_i, H) of successive stretches of the text, as the caches fill.

        With `last_only` each stretch gives its last position alone.
        """
        stretch = max(1, _PREFILL_POSITIONS // self.rows)
        device = self.transformer.head.device
        states = []
        for start in range(0, len(tokens), stretch):
            part = torch.tensor([tokens[start : start + stretch]], device=device)  # (1, T)
            positions = torch.arange(part.shape[1], device=device) + past + start
            x = self.transformer.embed(part, positions)  # (1, T, H)
            rotation = self.transformer.rotation(x, positions)
            for block in self.transformer.blocks[: self._shared]:
                x = block(x, rotation, below)
            x = x.expand(self.rows, -1, -1).contiguous()  # (rows, T, H)
            for block, adapters in self._top:
                last = last_only and block is self.transformer.blocks[-1]
                x = block(x, rotation, above, adapters, last_only=last)
            states.append(x[:, -1:] if last_only else x)
        return states


class EnsembleDecoder:
    """One request: its own caches, below shared by all models and above one for each."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.length = 0
        self._below, self._above = KeyValues(), KeyValues()

    def start(self, prompt: Sequence[int]) -> torch.Tensor:
        """Read the prompt into fresh caches; next-token logits (rows, V)."""
        self.ensemble.check(prompt, past=0)
        self.length = 0
        self._below, self._above = KeyValues(), KeyValues()
        return self._forward(prompt)

    def step(self, token: int) -> torch.Tensor:
        """Read one more token; next-token logits (rows, V)."""
        if not self.length:
            raise InputError("A request starts with a prompt.")
        self.ensemble.check([token], past=self.length)
        return self._forward([token])

    @torch.inference_mode()
    def _forward(self, tokens: Sequence[int]) -> torch.Tensor:
        states = self.ensemble._read(tokens, self.length, self._below, self._above, last_only=True)
        self.length += len(tokens)
        return self.ensemble.transformer.logits(states[-1][:, -1])


def _check_fit(stack: AdapterStack, transformer: Transformer) -> None:
    wanted = transformer.places(stack.shape)
    given = {place: (a.shape[1], b.shape[2]) for place, a, b in stack.tensors()}
    if wanted != given:
        raise InputError("These adapters were made for another model: they do not fit the public one.")
