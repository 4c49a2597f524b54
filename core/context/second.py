"""A second look at the sentences that the encoder leaves open, by the lower layers of the language model.

The encoder is small and quick, and right about most sentences by far. Where its score is neither low nor
high, the embedded language model reads the sentence too, with low-rank adapters of the detector's own, and
both scores together decide (`core.context.head.Both`). A sentence is read behind the one before it and in
front of a short question; its own tokens, on average, and the last token of the question make the logit.
"""

import copy
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from core.context.packed import pack
from core.context.recent import Pair, Recent
from core.context.sentences import readable
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from core.lm.public import PublicModel

WEIGHTS, ABOUT = "second.safetensors", "second.json"
QUESTION = "\nPrivate:"
SENTENCE_TOKENS, CONTEXT_TOKENS, BATCH_TOKENS = 160, 48, 512
# The products of a layer that have an adapter.
PLACES = (
    "self_attn.q_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)


@dataclass(frozen=True)
class SecondAbout:
    """What a second look is made of; written beside its weights."""

    model: str  # the digest of the language model that the adapters belong to
    layers: int
    rank: int
    families: int
    sentences: int
    seed: int


class Judgement(nn.Module):
    """The logit of a sentence from the states of its tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.unit = nn.LayerNorm(2 * width), nn.Linear(2 * width, 1)
        nn.init.zeros_(self.unit.weight)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        """States (n, T, width) and which tokens are the sentence's own (n, T), to logits (n,)."""
        mean = (states * own[..., None]).sum(1) / own.sum(1, keepdim=True).clamp(min=1.0)
        seen: torch.Tensor = self.unit(self.dropout(self.norm(torch.cat([mean, states[:, -1]], 1))))[:, 0]
        return seen


def lower_layers(public: "PublicModel", layers: int) -> Any:
    """The first layers of a language model of the Llama type, its own to change; the rest is shared."""
    base: Any = getattr(public.model, "model", None)
    if base is None or len(getattr(base, "layers", ())) < layers or not hasattr(base, "rotary_emb"):
        raise ModelUnavailable(f"The second look needs a Llama-type model of {layers} layers or more.")
    config = copy.deepcopy(base.config)
    config.num_hidden_layers = layers
    with torch.device("meta"):
        lower = type(base)(config)
    lower.embed_tokens, lower.norm, lower.rotary_emb = base.embed_tokens, base.norm, base.rotary_emb
    lower.layers = nn.ModuleList(copy.deepcopy(layer) for layer in base.layers[:layers])
    return lower.eval()


@dataclass(frozen=True)
class Row:
    """A sentence as tokens: the end of the one before it, its own, and the question."""

    before: tuple[int, ...]
    own: tuple[int, ...]
    question: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.before) + len(self.own) + len(self.question)


def tokenise(tokenizer: Any, pairs: Sequence[Pair]) -> list[Row]:
    """Sentences and the ones before them as rows of tokens."""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokenizer(readable(text), add_special_tokens=False).input_ids)

    question = ids(QUESTION)
    return [
        Row(ids(f"{before}\n")[-CONTEXT_TOKENS:] if before else (), ids(own)[:SENTENCE_TOKENS], question)
        for own, before in pairs
    ]


def judged(lower: Any, judgement: Judgement, rows: Sequence[Row]) -> torch.Tensor:
    """The logits (n,) of rows, padded on the left to the longest."""
    longest = max(map(len, rows))
    tokens, mask = torch.zeros(2, len(rows), longest, dtype=torch.long)
    own = torch.zeros(len(rows), longest)
    for place, row in enumerate(rows):
        tokens[place, longest - len(row) :] = torch.tensor((*row.before, *row.own, *row.question))
        mask[place, longest - len(row) :] = 1
        end = longest - len(row.question)
        own[place, end - len(row.own) : end] = 1.0
    states = lower(input_ids=tokens, attention_mask=mask, use_cache=False).last_hidden_state
    logits: torch.Tensor = judgement(states.float(), own)
    return logits


class SecondLook:
    """Logits of sentences by the language model. Loaded when it is first asked; safe for many threads."""

    def __init__(self, folder: Path, public: "PublicModel") -> None:
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            facts = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            self.about = SecondAbout(**facts)
            numbers = load_file(folder / WEIGHTS)
        except (OSError, ValueError, TypeError, SafetensorError) as error:
            raise ModelUnavailable(f"The second look in {folder} cannot be read: {error}.") from error
        if self.about.model != public.digest:
            raise ModelUnavailable("The detector's second look belongs to another language model.")
        self._tokenizer: Any = public.tokenizer
        self._lower = lower_layers(public, self.about.layers)
        self._judgement = Judgement(int(public.model.config.hidden_size)).eval()
        self._merge(numbers, folder)
        self._recent, self._turn = Recent(), threading.Lock()

    def logits(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        """One logit for each sentence and the one before it, in the given order: (n,)."""
        found = self._recent.rows(list(pairs), self._read, np.zeros((0, 1), np.float32))
        return found[:, 0].astype(np.float64)

    def _read(self, pairs: list[Pair]) -> NDArray[np.float32]:
        from core.context.batches import by_length

        rows = tokenise(self._tokenizer, pairs)
        found = np.empty((len(rows), 1), np.float32)
        with self._turn, torch.inference_mode():
            for batch in by_length([len(row) for row in rows], BATCH_TOKENS):
                found[batch, 0] = judged(self._lower, self._judgement, [rows[i] for i in batch]).numpy()
        return found

    def _merge(self, numbers: dict[str, torch.Tensor], folder: Path) -> None:
        """Add the adapters to the layers, which are ours: reading then costs no more than without them."""
        try:
            with torch.no_grad():
                for number, layer in enumerate(self._lower.layers):
                    for place in PLACES:
                        a, b = (numbers.pop(f"{number}.{place}.{which}").float() for which in "ab")
                        layer.get_submodule(place).weight += b @ a
            self._judgement.load_state_dict({name: value.float() for name, value in numbers.items()})
        except (KeyError, RuntimeError) as error:
            raise ModelUnavailable(f"The second look in {folder} does not fit: {error}.") from error
        self._lower.requires_grad_(False)
        self._judgement.requires_grad_(False)
        pack(self._lower)


def save_second(
    folder: Path, adapters: dict[str, torch.Tensor], judgement: Judgement, about: SecondAbout
) -> None:
    """Write the adapters (a and b of each place, in half precision) and the judgement, without pickles."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    numbers = {name: value.detach().half().contiguous() for name, value in adapters.items()}
    numbers |= {name: value.detach().contiguous() for name, value in judgement.state_dict().items()}
    save_file(numbers, folder / WEIGHTS)
    (folder / ABOUT).write_text(json.dumps(asdict(about), indent=1) + "\n", encoding="utf-8")
