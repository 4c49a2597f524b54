"""The sentence encoder read at several depths: what a sentence in its context looks like to the head.

A sentence-transformers encoder is trained to tell topics apart, and its last layers forget who speaks and
whether something is asked or told. So a sentence is the mean over its own tokens at several depths, side
by side. The sentence before is read in the second segment: the tokens have attended to both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.context.batches import by_length
from core.context.packed import packed
from core.context.sentences import readable
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Features = NDArray[np.float32]
# Tokens: a piece of text is rarely longer than the first; of the sentence before, the end is what matters.
SENTENCE_TOKENS = 384
CONTEXT_TOKENS = 64
# Tokens, padding included, that are read at once: large enough for the matrix products, small enough for
# the caches of the processor.
BATCH_TOKENS = 768


@dataclass(frozen=True, eq=False)
class Tokens:
    """Sentences and the ones before them as token ids, not padded yet."""

    ids: tuple[tuple[int, ...], ...]
    own: tuple[int, ...]  # how many of the ids, from the first, are the sentence's own

    def batch(self, rows: Sequence[int]) -> dict[str, torch.Tensor]:
        """The given rows, padded to the longest of them: ids, segments and mask of shape (rows, T)."""
        longest = max(len(self.ids[row]) for row in rows)
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        mask = torch.zeros_like(ids)
        segments = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            length = len(self.ids[row])
            ids[place, :length] = torch.tensor(self.ids[row])
            mask[place, :length] = 1
            segments[place, self.own[row] : length] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}


def tokenise(tokenizer: Any, sentences: Sequence[str], contexts: Sequence[str]) -> Tokens:
    """`[CLS] sentence [SEP]`, and behind it `context [SEP]` where there is one."""
    own_texts = [readable(sentence) for sentence in sentences]
    first = tokenizer(own_texts, truncation=True, max_length=SENTENCE_TOKENS)["input_ids"]
    wanted = sorted({context for context in contexts if context})
    read = (
        tokenizer([readable(each) for each in wanted], add_special_tokens=False)["input_ids"]
        if wanted
        else []
    )
    ends = {
        context: (*ids[-CONTEXT_TOKENS:], tokenizer.sep_token_id)
        for context, ids in zip(wanted, read, strict=True)
    }
    ids = tuple((*own, *ends.get(context, ())) for own, context in zip(first, contexts, strict=True))
    return Tokens(ids, tuple(len(own) for own in first))


class Network:
    """An encoder and the layers that are looked at; the encoder is shared and not changed."""

    def __init__(self, encoder: "SentenceTransformer", layers: Sequence[int]) -> None:
        self._tokenizer = encoder.tokenizer
        self._model: Any = packed(encoder[0].auto_model)
        self._layers = tuple(layers)
        if getattr(self._model.config, "num_hidden_layers", 0) < max(self._layers):
            raise ModelUnavailable(
                f"The detector needs a BERT encoder of {max(self._layers)} layers or more."
            )

    @property
    def width(self) -> int:
        """How many numbers a sentence becomes."""
        return int(self._model.config.hidden_size) * len(self._layers)

    def read(self, sentences: Sequence[str], contexts: Sequence[str]) -> Features:
        """The states of each sentence in its context: (n, width), in the given order."""
        tokens = tokenise(self._tokenizer, sentences, contexts)
        found = np.empty((len(tokens.ids), self.width), dtype=np.float32)
        with torch.inference_mode():
            for rows in by_length([len(ids) for ids in tokens.ids], BATCH_TOKENS):
                found[rows] = self._means(tokens.batch(rows)).numpy()
        return found

    def _means(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """The mean of each sentence's own token states at each of the layers: (rows, width)."""
        states = self._model(**batch, output_hidden_states=True).hidden_states
        own = (batch["attention_mask"] * (1 - batch["token_type_ids"]))[..., None].float()  # (rows, T, 1)
        return torch.cat([(states[layer] * own).sum(1) for layer in self._layers], 1) / own.sum(1)
