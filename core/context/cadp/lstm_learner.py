"""The LSTM as a learner."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from core.context.cadp.dpsgd import Measured
from core.context.cadp.lstm import Gradients, Lstm
from core.context.cadp.records import Records, portions
from core.context.cadp.small_vocabulary import SmallVocabulary

SIZE = 200  # of the embedding and of the hidden state, as in the paper
_POSITIONS = 2048
# A sequence's own gradient has as many numbers as the model: so many bytes of them are held at once.
_PER_SAMPLE_BYTES = 96 << 20


class LstmLearner:
    """The paper's LSTM and the records that it learns from; losses count as with adapters."""

    preparation = 0.0

    def __init__(
        self, records: Records, vocabulary: SmallVocabulary, *, length: int, seed: int = 0, size: int = SIZE
    ) -> None:
        self.records, self._vocabulary = records, vocabulary
        self._length = float(length)
        fresh = Lstm.fresh(len(vocabulary), seed, size, size)
        self.parameters = [torch.nn.Parameter(tensor) for tensor in fresh.tensors]
        bytes_each = 4 * sum(p.numel() for p in self.parameters)
        self._at_once = max(1, _PER_SAMPLE_BYTES // bytes_each)

    def prepare(self, folder: Path | None, report: Callable[[float], None]) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """Nothing to let go of."""

    def trained(self) -> "LstmLM":
        """The model as it is now."""
        return LstmLM(Lstm(*(p.detach().clone() for p in self.parameters)), self._vocabulary)

    def per_sample(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The gradient of every chosen record by itself."""
        for portion in portions(self.records, chosen, _POSITIONS):
            for start in range(0, len(portion), self._at_once):
                gradients, losses = self._backward(portion[start : start + self._at_once])
                yield Measured(losses, gradients.per_sample())

    def summed(self, chosen: torch.Tensor) -> Iterator[Measured]:
        """The sum of the chosen records' gradients."""
        for portion in portions(self.records, chosen, _POSITIONS):
            gradients, losses = self._backward(portion)
            yield Measured(losses, gradients.summed())

    @torch.no_grad()
    def _backward(self, portion: list[int]) -> tuple[Gradients, torch.Tensor]:
        inputs, targets, weights = self.records.padded(portion)
        model = Lstm(*(p.detach() for p in self.parameters))
        gradients = model.forward(inputs).backward(targets, weights / self._length)
        return gradients, (gradients.losses * weights).sum(dim=1) / weights.sum(dim=1)


@dataclass(frozen=True, eq=False)
class LstmLM:
    """A trained LSTM with its vocabulary."""

    lstm: Lstm
    vocabulary: SmallVocabulary

    @torch.no_grad()
    def losses(self, records: Records) -> torch.Tensor:
        """Nats of each record, over all of its tokens and its end: (n,)."""
        found = torch.zeros(len(records))
        for portion in portions(records, torch.arange(len(records)), _POSITIONS):
            inputs, targets, weights = records.padded(portion)
            found[portion] = (self.lstm.forward(inputs).losses(targets) * weights).sum(dim=1)
        return found
