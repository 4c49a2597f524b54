"""A training as the page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.curator.job import GOING, State

if TYPE_CHECKING:
    from core.lm.finetune import AdapterReport

CURVE_POINTS = 60


@dataclass(frozen=True)
class Curve:
    """The losses of one adapter in a few points: (step, mean loss since the point before)."""

    adapter: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class JobStatus:
    """A training as it is now; one that is `kept` can be continued or discarded.

    Losses are functions of private text: for the curator.
    """

    id: str
    name: str
    state: State
    share: float = 0.0
    seconds_left: float | None = None
    adapter: str = ""
    curves: tuple[Curve, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = ()
    reports: "tuple[AdapterReport, ...]" = ()
    kept: bool = False

    @property
    def going(self) -> bool:
        """Whether it is under way."""
        return self.state in GOING


def thinned(losses: Sequence[float], points: int = CURVE_POINTS) -> tuple[tuple[float, float], ...]:
    """The means of at most `points` equal stretches of a curve, each at its last step."""
    count = len(losses)
    size = max(1, -(-count // points))
    stretches = [losses[start : min(start + size, count)] for start in range(0, count, size)]
    return tuple(
        (float(min((number + 1) * size, count)), sum(part) / len(part))
        for number, part in enumerate(stretches)
    )
