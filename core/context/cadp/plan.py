"""How CADP training is set up, and what it tells while it runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.context.cadp.accounting import noise_for
from core.context.cadp.flags import Mechanism
from core.errors import InputError

Updates = Literal["in turn", "together"]
Stage = Literal["reading", "training"]


@dataclass(frozen=True)
class CadpSettings:
    """How a model is trained. None of it may be chosen by looking at private text.

    `noise` is the multiplier sigma; None finds the smallest one whose steps spend at most (epsilon, delta).
    A small `clip` C costs little where few sequences are flagged, and the noise is sigma C: by default well
    below the norm of an adapter's usual gradient, about 0.5 for a sequence.
    `seed` is for experiments: with it, sampling and noise can be repeated and protect nothing.
    """

    passes: float = 3.0
    batch: int = 32
    length: int = 64
    clip: float = 0.05
    noise: float | None = None
    epsilon: float = 8.0
    delta: float = 1e-5
    learning_rate: float = 2e-3
    warmup: float = 0.1
    optimizer: Literal["sgd", "adam"] = "adam"
    updates: Updates = "together"
    merge_copies: bool = True
    seed: int | None = None
    checkpoint_steps: int = 50

    def __post_init__(self) -> None:
        if not (self.passes > 0.0 and self.batch >= 1 and self.length >= 2 and self.checkpoint_steps >= 1):
            raise InputError("Passes and batch must be above 0, and the length of a sequence at least 2.")
        if not (self.clip > 0.0 and self.learning_rate > 0.0 and 0.0 <= self.warmup < 1.0):
            raise InputError(
                "The clipping bound and the learning rate are above 0, the warm-up is a share below 1."
            )
        if self.noise is not None and not 0.0 <= self.noise < math.inf:
            raise InputError("The noise multiplier is 0 or more.")
        if not (self.epsilon > 0.0 and 0.0 < self.delta < 1.0):
            raise InputError("Epsilon must be above 0, and delta between 0 and 1.")
        if self.updates == "in turn" and self.optimizer != "sgd":
            raise InputError("Updates in turn are for plain SGD; with Adam they are made together.")


@dataclass(frozen=True)
class Point:
    """One step of the history."""

    step: int
    loss: float | None
    epsilon: float
    drawn: int
    flagged: int


@dataclass(frozen=True)
class CadpProgress:
    """How far training is: the last batch's loss in nats a token (None when it was empty), epsilon so far.

    Losses are functions of private text that no noise covers: they are for the curator. `history` are all
    steps until now, those of earlier runs included; it goes on growing while it is read.
    """

    stage: Stage
    step: int
    steps: int
    share: float
    seconds_left: float
    loss: float | None
    epsilon: float
    history: Sequence[Point] = ()


@dataclass(frozen=True)
class Plan:
    """What follows from the settings and the public counts: rate q, number of steps, noise multiplier."""

    rate: float
    steps: int
    noise: float
    private: bool

    @staticmethod
    def of(settings: CadpSettings, count: int, mechanism: Mechanism) -> "Plan":
        """The plan for so many sequences."""
        if not count:
            raise InputError("There is nothing to train on: the corpus has no sequences.")
        rate = min(1.0, settings.batch / count)
        steps = max(1, math.ceil(settings.passes / rate))
        if mechanism == "none":
            return Plan(rate, steps, 0.0, private=False)
        noise = settings.noise
        if noise is None:
            noise = noise_for(settings.epsilon, settings.delta, rate, steps)
        return Plan(rate, steps, noise, private=True)
