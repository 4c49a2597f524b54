"""Documents to training sequences of one length, and the order in which an adapter reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import torch

Documents = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Sequences:
    """n sequences of T tokens with their next tokens; `weights` is 0 where a sequence was filled up."""

    tokens: torch.Tensor  # (n, T)
    targets: torch.Tensor  # (n, T)
    weights: torch.Tensor  # (n, T)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def count(self) -> int:
        """How many next tokens there are to learn."""
        return int(self.weights.sum())


def cut(documents: Documents, length: int, separator: int) -> Sequences:
    """The documents one after the other, a separator around each, cut into sequences of `length` tokens."""
    stream = [separator]
    for document in documents:
        stream += [*document, separator]
    real = len(stream) - 1 if documents else 0
    count = -(-real // length)
    stream += [separator] * (count * length + 1 - len(stream))
    flat = torch.tensor(stream[: count * length + 1], dtype=torch.long)
    weights = (torch.arange(count * length) < real).float()
    return Sequences(flat[:-1].view(count, length), flat[1:].view(count, length), weights.view(count, length))


def hold_out(documents: Documents, share: float, seed: int) -> tuple[Documents, Documents]:
    """Documents to learn from and documents to check on; with too few documents all are learned from."""
    held = int(len(documents) * share)
    order = torch.randperm(len(documents), generator=torch.Generator().manual_seed(seed)).tolist()
    return [documents[i] for i in order[held:]], [documents[i] for i in order[:held]]


def batches(count: int, size: int, number_of_pass: int, seed: int) -> list[list[int]]:
    """The sequences of one pass in a fresh order, `size` at a time."""
    generator = torch.Generator().manual_seed(seed_of(seed, "pass", number_of_pass))
    order = torch.randperm(count, generator=generator).tolist()
    return [order[start : start + size] for start in range(0, count, size)]


def seed_of(*parts: object) -> int:
    """A seed that is a function of these parts alone."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(sha256(text.encode()).digest()[:7], "big")
