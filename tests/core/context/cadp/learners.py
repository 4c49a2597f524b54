"""Small learners for the tests of private training: a real LSTM and a real adapter on a tiny real model."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch

from core.context.cadp.adapter_learner import AdapterLearner
from core.context.cadp.dpsgd import Measured
from core.context.cadp.lstm_learner import LstmLearner
from core.context.cadp.records import Records
from core.context.cadp.small_vocabulary import SmallVocabulary
from core.lm.public import PublicModel
from core.lm.stack import LoraShape
from tests.core.lm.tiny import VOCABULARY, tiny_public
from tests.tiny import make_tokenizer

LENGTH = 16
SHAPE = LoraShape(layers=2, rank=3, alpha=6.0)


def records(count: int = 24, seed: int = 3, vocabulary: int = VOCABULARY) -> Records:
    """Records of one to fifteen random tokens."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LENGTH, (count,), generator=generator).tolist()
    tokens = [
        tuple(torch.randint(1, vocabulary, (length,), generator=generator).tolist()) for length in lengths
    ]
    return Records(tuple(f"text {number}" for number in range(count)), tuple(tokens), 0)


@cache
def vocabulary() -> SmallVocabulary:
    tokenizer = make_tokenizer(Path(mkdtemp()))
    return SmallVocabulary.read(tokenizer.backend_tokenizer.to_str(), "<|endoftext|>")


@cache
def public(kind: str = "llama") -> PublicModel:
    return tiny_public(kind, Path(mkdtemp()))


def lstm(data: Records | None = None) -> LstmLearner:
    return LstmLearner(records() if data is None else data, vocabulary(), length=LENGTH, size=6)


def adapter(data: Records | None = None, kind: str = "llama", *, moved: bool = True) -> AdapterLearner:
    """An adapter whose B is not zero any more, so that A has a gradient too."""
    learner = AdapterLearner(public(kind), records() if data is None else data, SHAPE, length=LENGTH)
    if moved:
        generator = torch.Generator().manual_seed(9)
        for b in learner.parameters[1::2]:
            b.data.normal_(0.0, 0.1, generator=generator)
    return learner


class FixedGradients:
    """A learner whose sequences have the gradients that a test gives them."""

    preparation = 0.0

    def __init__(self, gradients: torch.Tensor) -> None:
        self.gradients = gradients  # (n, P)
        self.records = records(len(gradients))
        half = gradients.shape[1] // 2
        self.parameters = [torch.nn.Parameter(torch.zeros(half)), torch.nn.Parameter(torch.zeros(half))]

    def prepare(self, folder: Path | None, report: Callable[[float], None]) -> None:
        pass

    def close(self) -> None:
        pass

    def per_sample(self, chosen: torch.Tensor) -> Iterator[Measured]:
        for portion in chosen.split(3) if len(chosen) else ():  # portions, as real learners have them
            first, second = self.gradients[portion].chunk(2, dim=1)
            yield Measured(torch.ones(len(portion)), [first.clone(), second.clone()])

    def summed(self, chosen: torch.Tensor) -> Iterator[Measured]:
        for measured in self.per_sample(chosen):
            yield Measured(measured.losses, [gradient.sum(dim=0) for gradient in measured.gradients])
