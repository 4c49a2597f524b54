"""Records: the sequences that are sampled, flagged and clipped one by one.

A record is made of itself alone: a passage of one document, cut at the ends of sentences. Nothing is packed
across documents, so that adding a record changes no other one, which is what the guarantee is about.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from core.context.sentences import split
from core.errors import InputError

Encode = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True)
class Records:
    """Texts and their tokens; a model reads separator + tokens and predicts tokens + separator."""

    texts: tuple[str, ...]
    tokens: tuple[tuple[int, ...], ...]
    separator: int

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def lengths(self) -> torch.Tensor:
        """How many next tokens each record has: its tokens and the separator."""
        return torch.tensor([len(tokens) + 1 for tokens in self.tokens], dtype=torch.long)

    def pick(self, numbers: Sequence[int]) -> "Records":
        """These records, in this order."""
        return Records(
            tuple(self.texts[i] for i in numbers), tuple(self.tokens[i] for i in numbers), self.separator
        )

    def padded(self, chosen: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Inputs, targets and weights (b, T) of the chosen records; weight 0 where one was filled up."""
        longest = max((len(self.tokens[i]) for i in chosen), default=0) + 1
        inputs = torch.full((len(chosen), longest), self.separator)
        targets = inputs.clone()
        weights = torch.zeros(len(chosen), longest)
        for row, i in enumerate(chosen):
            tokens = torch.tensor(self.tokens[i], dtype=torch.long)
            inputs[row, 1 : len(tokens) + 1] = tokens
            targets[row, : len(tokens)] = tokens
            weights[row, : len(tokens) + 1] = 1.0
        return inputs, targets, weights


def portions(records: Records, chosen: torch.Tensor, positions: int) -> Iterator[list[int]]:
    """The chosen records by length, in portions of about so many positions: little is filled up."""
    order = chosen[torch.argsort(records.lengths[chosen], stable=True)].tolist()
    portion: list[int] = []
    for number in order:
        if portion and (len(portion) + 1) * int(records.lengths[number]) > positions:
            yield portion
            portion = []
        portion.append(number)
    if portion:
        yield portion


def read_records(documents: Sequence[str], encode: Encode, length: int, separator: int) -> Records:
    """Passages of at most `length` positions, as many whole sentences of one document in each as fit.

    A sentence that is longer by itself is cut, and each cut keeps the whole passage as its text, so that it
    is flagged by all of its context.
    """
    if length < 2:
        raise InputError("A sequence needs a length of at least 2 tokens.")
    texts = [passage for passage in _passages(documents, encode, length - 1) if passage]
    found_texts: list[str] = []
    found_tokens: list[tuple[int, ...]] = []
    for text, tokens in zip(texts, encode(texts) if texts else [], strict=True):
        for start in range(0, len(tokens), length - 1):
            found_texts.append(text)
            found_tokens.append(tuple(tokens[start : start + length - 1]))
    return Records(tuple(found_texts), tuple(found_tokens), separator)


def _passages(documents: Sequence[str], encode: Encode, room: int) -> Iterator[str]:
    pieces = [split(document) for document in documents]
    sentences = [
        document[a.start : a.end] for document, parts in zip(documents, pieces, strict=True) for a in parts
    ]
    # One more for the space before a sentence, which may be a token of its own.
    sizes = iter([len(tokens) + 1 for tokens in encode(sentences)] if sentences else [])
    for document, parts in zip(documents, pieces, strict=True):
        start, end, taken = 0, 0, 0
        for part in parts:
            size = next(sizes)
            if taken and taken + size > room:
                yield document[start:end]
                taken = 0
            if not taken:
                start = part.start
            end, taken = part.end, taken + size
        if taken:
            yield document[start:end]
