"""How fast the models are here and now, by short trials: what time estimates are made of.

A trial is good for a while, so that an estimate that is asked for again costs nothing.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from time import monotonic, perf_counter, thread_time

import numpy as np

from core.attack.ranking.branches import Branches
from core.attack.targets import Subject, Target
from core.lm.finetune import AdapterData, Progress, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape, fresh_stack
from core.lm.transformer import read_transformer
from core.predict import Decoding
from core.predict.terms import protocol_under

_PROMPT = 12  # tokens of the trial
_BRANCHES = 8
_GOOD_FOR = 90.0  # seconds; what else the machine does changes
_DEBIT = 4e-3  # seconds for a transaction of a ledger of the attack's own
_LOOK = 0.2  # seconds to see how busy the machine is
_BATCH, _LENGTH = 4, 12  # of the trial of training
_known: dict[Hashable, tuple[float, "Pace | float"]] = {}


@dataclass(frozen=True)
class Pace:
    """Seconds: for a token of a prompt, for one more token, and for one more token in a batch."""

    prompt: float
    step: float
    batched: float

    def answers(self, answers: int, prompt_tokens: float, tokens: float) -> float:
        """The time for so many answers."""
        return answers * (prompt_tokens * self.prompt + tokens * self.step)


def paces_of(subject: Subject, targets: Sequence[Target]) -> dict[Target, Pace]:
    """Read a few tokens with the models of each target; targets over the same adapters are tried once."""
    return {target: _pace(subject.public, subject.rows(target)) for target in targets}


def pace_before_training(public: PublicModel, shape: LoraShape, adapters: int) -> Pace:
    """The pace of so many adapters that are still to be trained: fresh ones are as fast."""
    names = [f"trial-{number}" for number in range(adapters)]
    places = read_transformer(public.model).places(shape)
    return _pace(public, fresh_stack(places, shape, names, range(adapters)))


def pace_of_public(public: PublicModel) -> Pace:
    """The pace of the public model alone."""
    return pace_before_training(public, LoraShape(layers=1, rank=1), 0)


def training_seconds(public: PublicModel, data: Sequence[AdapterData], training: TrainingSettings) -> float:
    """How long training on this data takes: positions that are run, times the seconds of one in a trial."""
    positions = 0.0
    for batch, entries in groupby(data, key=lambda entry: entry.batch or training.batch):
        alike = list(entries)
        size = training.rows_at_once or len(alike)
        for together in (alike[start : start + size] for start in range(0, len(alike), size)):
            longest = max(_steps(entry, batch, training) for entry in together)
            tokens = sum(map(_tokens, together))  # read once by the layers below
            positions += len(together) * batch * training.length * longest + tokens
    return positions * _position_seconds(public, training.shape)


def draw_seconds(target: Target, adapters: int, vocabulary: int) -> float:
    """What one token of a target over parts costs beside the models: weights, losses and the debit."""
    assert target.terms is not None, "only targets over parts keep an account"
    logits = np.random.default_rng(0).normal(size=(adapters + 1, vocabulary)).astype(np.float32)
    protocol = protocol_under(target.terms)

    def draw() -> None:
        decoded = Decoding().from_logits(logits)
        protocol.copy().answer(decoded.query(protocol.shape))

    return timed(draw) + _DEBIT


def timed(work: Callable[[], object]) -> float:
    """The shortest of three: what else the machine does for a moment is no part of the pace."""
    found = []
    for _ in range(3):
        begun = perf_counter()
        work()
        found.append(perf_counter() - begun)
    return min(found)


def waiting() -> float:
    """How many times longer work takes here than the processor works on it: about 1 on an idle machine."""
    begun, own = perf_counter(), thread_time()
    while perf_counter() - begun < _LOOK:
        sum(range(1_000))
    return (perf_counter() - begun) / max(thread_time() - own, 1e-6)


def _pace(public: PublicModel, rows: AdapterStack) -> Pace:
    key = (id(public), rows.shape, len(rows))
    known = _recent(key)
    if not isinstance(known, Pace):
        known = _try(Branches(public, rows))
        _known[key] = (monotonic(), known)
    return known


def _try(branches: Branches) -> Pace:
    prompt = list(range(1, _PROMPT + 1))
    branches.start(prompt[:1])  # the first pass lays the weights out
    read = timed(lambda: branches.start(prompt))
    root, _ = branches.start(prompt[:2])
    step = timed(lambda: branches.extend([root], [1]))
    batch = timed(lambda: branches.extend([root] * _BRANCHES, [1] * _BRANCHES))
    # Weights, losses, the debit and the draw are about a fifth on top of the models.
    return Pace(read / _PROMPT, 1.2 * step, 1.2 * batch / _BRANCHES)


def _position_seconds(public: PublicModel, shape: LoraShape) -> float:
    """A position forward and back, by the shortest of three small steps; the one before lays things out."""
    key = (id(public), shape, "training")
    known = _recent(key)
    if isinstance(known, float):
        return known
    moments: list[float] = []

    def stepped(progress: Progress) -> None:
        moments.append(perf_counter())

    trial = TrainingSettings(shape=shape, passes=4, batch=_BATCH, length=_LENGTH, validation=0.0)
    finetune(public, [AdapterData("trial", [[1] * (_BATCH * _LENGTH - 1)])], trial, progress=stepped)
    found = min(later - before for before, later in pairwise(moments[-4:])) / (_BATCH * _LENGTH)
    _known[key] = (monotonic(), found)
    return found


def _recent(key: Hashable) -> "Pace | float | None":
    now = monotonic()
    for old in [each for each, (when, _) in _known.items() if now - when > _GOOD_FOR]:
        _known.pop(old, None)
    return _known[key][1] if key in _known else None


def _tokens(entry: AdapterData) -> int:
    return sum(len(document) + 1 for document in entry.documents)


def _steps(entry: AdapterData, batch: int, training: TrainingSettings) -> int:
    sequences = -(-_tokens(entry) // training.length)
    return -(-sequences // batch) * (entry.passes or training.passes)
