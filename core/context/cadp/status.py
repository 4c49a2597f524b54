"""A CADP training as the page and the shell show it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from core.context.cadp.kept import CadpJob, training_folder
from core.settings import Settings

if TYPE_CHECKING:
    from core.context.cadp.card import CadpCard
    from core.context.cadp.plan import CadpProgress, Point

State = Literal["loading", "reading", "training", "done", "stopped", "interrupted", "failed"]
GOING = ("loading", "reading", "training")
Curve = tuple[tuple[float, float], ...]
_POINTS = 120


@dataclass(frozen=True)
class CadpStatus:
    """A training as it is now; one that is `kept` can be continued or discarded.

    The losses are functions of text that no noise covers: for the curator. There are no epsilons without
    noise. `most` is the epsilon that was asked for.
    """

    name: str
    synthetic: bool
    state: State = "loading"
    share: float = 0.0
    seconds_left: float | None = None
    losses: Curve = ()
    epsilons: Curve = ()
    steps: int = 0
    step: int = 0
    sentence: str = ""
    card: "CadpCard | None" = None
    id: str = ""
    most: float | None = None
    kept: bool = False

    @property
    def going(self) -> bool:
        """Whether it is under way."""
        return self.state in GOING

    def at(self, progress: "CadpProgress") -> "CadpStatus":
        """The same training, as far as it is now."""
        losses, epsilons = curves(progress.history)
        return replace(
            self,
            state="training" if progress.stage == "training" else "reading",
            share=progress.share,
            seconds_left=progress.seconds_left,
            losses=losses,
            epsilons=epsilons,
            steps=progress.steps,
            step=progress.step,
        )


def status_of(settings: Settings, job: CadpJob) -> CadpStatus:
    """A training on disk: its state, and what its checkpoint has."""
    from core.context.cadp.checkpoint import read_reached
    from core.context.cadp.plan import Point

    status = CadpStatus(
        job.name,
        job.synthetic,
        "training" if job.state == "running" else job.state,
        sentence=job.sentence,
        id=job.id,
        most=most_of(job),
        kept=job.state != "running",
    )
    reached = read_reached(training_folder(settings, job.name), tensors=False)
    if reached is None:
        return status
    losses, epsilons = curves([Point(*values) for values in reached.history])
    return replace(
        status,
        share=reached.share,
        losses=losses,
        epsilons=epsilons,
        steps=reached.steps,
        step=len(reached.history),
    )


def most_of(job: CadpJob) -> float | None:
    """The epsilon that was asked for; none without privacy, or with a noise multiplier of one's own."""
    settings = job.recipe.settings
    return settings.epsilon if job.recipe.mechanism != "none" and settings.noise is None else None


def curves(history: "Sequence[Point]") -> tuple[Curve, Curve]:
    """Losses and epsilons in a few points: mean loss of each stretch of steps, epsilon at its end.

    Without noise epsilon is nothing or infinite, and there is no curve of it.
    """
    count = len(history)  # it may grow meanwhile
    size = max(1, -(-count // _POINTS))
    losses, epsilons = [], []
    for start in range(0, count, size):
        stretch = history[start : min(start + size, count)]
        end = float(stretch[-1].step)
        found = [point.loss for point in stretch if point.loss is not None]
        if found:
            losses.append((end, sum(found) / len(found)))
        if 0.0 < stretch[-1].epsilon < math.inf:
            epsilons.append((end, stretch[-1].epsilon))
    return tuple(losses), tuple(epsilons)
