"""What training takes and gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from core.errors import InputError, StudioError
from core.lm.stack import AdapterStack, LoraShape


class TrainingCancelled(StudioError):
    """Training was stopped on request; what was reached is kept and a later call goes on from there."""

    code = "cancelled"


@dataclass(frozen=True)
class TrainingSettings:
    """How adapters are trained. None of it may be chosen by looking at private text."""

    shape: LoraShape = field(default_factory=LoraShape)
    passes: int = 3
    batch: int = 8
    length: int = 128
    learning_rate: float = 1e-3  # on WikiText-2 the parts gain as much together as at 3e-3, and cost less
    warmup: float = 0.1
    weight_decay: float = 0.0
    clip: float = 1.0
    validation: float = 0.1
    patience: int = 1
    seed: int = 0
    rows_at_once: int | None = None
    checkpoint_steps: int = 50

    def __post_init__(self) -> None:
        if min(self.passes, self.batch, self.checkpoint_steps) < 1 or self.length < 2:
            raise InputError("Passes and batch must be at least 1, and the length of a sequence at least 2.")
        if not (0.0 <= self.validation < 1.0 and 0.0 <= self.warmup < 1.0 and self.learning_rate > 0.0):
            raise InputError("Validation and warm-up are shares below 1, and the learning rate is above 0.")


@dataclass(frozen=True)
class AdapterData:
    """What one adapter learns from; passes, batch and validation go before the settings' where given."""

    name: str
    documents: Sequence[Sequence[int]]
    passes: int | None = None
    batch: int | None = None
    validation: float | None = None


@dataclass(frozen=True)
class Progress:
    """How far training is. `curves` are the losses of every step so far, by adapter; they go on growing."""

    adapter: str
    share: float
    seconds_left: float
    loss: float
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class AdapterReport:
    """What became of one adapter: mean losses in nats by pass. `kept` is the pass whose weights stay."""

    name: str
    documents: int
    tokens: int
    steps: int
    training: tuple[float, ...]
    validation: tuple[float, ...]
    kept: int


@dataclass(frozen=True)
class TrainingResult:
    """The trained stack with a report for each adapter."""

    stack: AdapterStack
    reports: tuple[AdapterReport, ...]


class Clock:
    """Counts work done, tells how long the rest will take, and asks whether to go on."""

    def __init__(
        self, progress: Callable[[Progress], None] | None, cancelled: Callable[[], bool] | None
    ) -> None:
        self.total = 1.0
        self.curves: dict[str, Sequence[float]] = {}
        self._progress, self._cancelled = progress, cancelled
        self._done, self._skipped, self._start = 0.0, 0.0, monotonic()

    @property
    def reached(self) -> float:
        """Work that was done or need not be."""
        return self._done + self._skipped

    def skip(self, work: float) -> None:
        """Work that need not be done: an earlier call did it, or an adapter stopped early."""
        self._skipped += work

    def did(self, work: float, adapter: str, loss: float) -> None:
        """Work that was done just now."""
        self._done += work
        if self._progress is not None:
            left = max(0.0, self.total - self.reached)
            # Where all layers learn there are none to share, and reading the corpus is no work.
            seconds = (monotonic() - self._start) * left / self._done if self._done else 0.0
            self._progress(Progress(adapter, 1.0 - left / self.total, seconds, loss, self.curves))

    def cancelled(self) -> bool:
        """Whether someone asked to stop."""
        return self._cancelled is not None and self._cancelled()


def work_of(sequences: int, passes: int, layers: int, shared: int) -> float:
    """The work of one adapter, in layers run once forward over a sequence.

    Backward costs about the same again, and the LM head counts as 8 layers each way. The shared layers are
    run once, the others in every pass.
    """
    return sequences * (passes * step_work(layers) + shared)


def step_work(layers: int) -> float:
    """The work of one training step on one sequence."""
    return 2.0 * layers + 16.0
