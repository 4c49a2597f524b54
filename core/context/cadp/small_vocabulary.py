"""A small public vocabulary: the first merges of the public model's byte-pair encoding.

A vocabulary that is counted on private text tells which words are in it. A prefix of a public one does not,
and being a prefix of the merges it is itself a byte-pair encoding that can write every text.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InputError, ModelUnavailable
from core.lm.public import PublicModel

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, eq=False)
class SmallVocabulary:
    """A tokenizer and the token that stands around a text."""

    tokenizer: "Tokenizer"
    separator: int

    @staticmethod
    def cut(public: PublicModel, size: int) -> "SmallVocabulary":
        """The public model's vocabulary, cut to its first `size` tokens (all where it has fewer)."""
        fast = getattr(public.tokenizer, "backend_tokenizer", None)
        values: dict[str, Any] = json.loads(fast.to_str()) if fast is not None else {}
        if values.get("model", {}).get("type") != "BPE":
            raise ModelUnavailable(
                "A small vocabulary is cut from a byte-pair encoding; this one is another."
            )
        _cut(values, size)
        return SmallVocabulary.read(json.dumps(values), str(public.tokenizer.eos_token))

    @staticmethod
    def read(text: str, separator: str) -> "SmallVocabulary":
        """From a tokenizer's JSON."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(text)
        tokenizer.encode_special_tokens = True  # special tokens that are typed as text stay text
        number = tokenizer.token_to_id(separator)
        if number is None:
            raise ModelUnavailable("The vocabulary has no token for the end of a text.")
        return SmallVocabulary(tokenizer, number)

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Texts to tokens."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]


def _cut(values: dict[str, Any], size: int) -> None:
    """Keep bytes, marks and the first merges, numbered anew in their old order."""
    model = values["model"]
    merged = ["".join(pair if isinstance(pair, list) else pair.split(" ")) for pair in model["merges"]]
    kept = set(model["vocab"]) - set(merged)
    if len(kept) > size:
        raise InputError(f"The vocabulary needs at least {len(kept)} tokens, for bytes and marks.")
    merges = []
    for pair, token in zip(model["merges"], merged, strict=True):
        if len(kept) >= size and token not in kept:
            break
        kept.add(token)
        merges.append(pair)
    numbers = {token: i for i, token in enumerate(sorted(kept, key=lambda token: int(model["vocab"][token])))}
    model["vocab"], model["merges"] = numbers, merges
    for added in values["added_tokens"]:
        added["id"] = numbers[added["content"]]
