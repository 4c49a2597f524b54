"""The lower layers of the sentence encoder with low-rank adapters: what reads a sentence in its context.

A sentence-transformers encoder is trained to tell topics apart, and its last layers forget who speaks and
whether something is asked or told. So only the first `depth` layers are used, with LoRA adapters (in PEFT's
format) that were trained for the detector. The sentence before is read in the second segment; a sentence is
the mean over its own tokens, which have attended to both.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from core.context.sentences import readable
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Tokens: a piece of text is rarely longer than the first; of the sentence before, the end is what matters.
SENTENCE_TOKENS = 384
CONTEXT_TOKENS = 64


@dataclass(frozen=True)
class NetworkShape:
    """How many layers of the encoder are used, and the rank of the adapters in each of them."""

    depth: int = 4
    rank: int = 16


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


def truncated(encoder: "SentenceTransformer", depth: int) -> Any:
    """A copy of the encoder's transformer that ends after its first `depth` layers."""
    whole = encoder[0].auto_model
    if not hasattr(getattr(whole, "encoder", None), "layer") or len(whole.encoder.layer) < depth:
        raise ModelUnavailable(f"The detector needs a BERT encoder of {depth} layers or more.")
    model = copy.copy(whole)
    model._modules = dict(whole._modules)
    model.encoder = copy.copy(whole.encoder)
    model.encoder._modules = dict(whole.encoder._modules)
    model.encoder.layer = whole.encoder.layer[:depth]
    model.pooler = None
    return copy.deepcopy(model).float()


def with_adapters(model: Any, shape: NetworkShape) -> Any:
    """The model with fresh, trainable adapters in every linear map of its layers."""
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(**lora_settings(shape)))


def lora_settings(shape: NetworkShape) -> dict[str, Any]:
    """PEFT's settings for the adapters."""
    return {
        "r": shape.rank,
        "lora_alpha": 2 * shape.rank,
        "lora_dropout": 0.1,
        "target_modules": ["query", "key", "value", "dense"],
    }


def pooled(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The mean of each sentence's own token states: (rows, H)."""
    states = model(**batch).last_hidden_state  # (rows, T, H)
    own = (batch["attention_mask"] * (1 - batch["token_type_ids"]))[..., None].to(states.dtype)
    return (states * own).sum(1) / own.sum(1)
