"""CADP training: Algorithm 1 of the paper. DP-SGD on the flagged sequences, plain SGD on the rest.

Every step draws a Poisson sample of all sequences, with the rate batch / count. With updates "in turn" it is
the algorithm to the letter: a private update on the flagged ones, then a plain one on the others. "together"
adds the two gradients, taken at the same weights, and updates once; that is what Adam needs, whose memory of
past gradients the two would otherwise share in turns.

Why the flagged ones are protected: let two corpora differ in one flagged sequence. The weights are a function
of the noisy sums and of what both corpora have in common, whatever the plain updates make of it, and the
noisy sums are adaptively composed Poisson-sampled Gaussian mechanisms. So noise is added and accounted in
every step, also when no flagged sequence was drawn and when none is flagged at all: its absence would tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from time import monotonic

import torch

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.checkpoint import Reached, fingerprint, read_reached, write_reached
from core.context.cadp.dpsgd import (
    Learner,
    PrivateOptimizer,
    plain_gradient,
    private_gradient,
    private_optimizer,
)
from core.context.cadp.flags import Mechanism
from core.context.cadp.plan import CadpProgress, CadpSettings, Plan, Point, Stage
from core.context.cadp.randomness import randomness
from core.lm.training import TrainingCancelled

_STOPPED = "Training was stopped. Start it again to go on from here."


@dataclass(frozen=True)
class Trained:
    """What a training gave besides the learner's weights."""

    plan: Plan
    account: PrivacyAccount
    history: tuple[Point, ...]


class CadpTraining:
    """One training of a learner; `run` goes through all of it. Afterwards the learner holds the weights."""

    def __init__(
        self,
        learner: Learner,
        flagged: Sequence[bool],
        settings: CadpSettings,
        *,
        mechanism: Mechanism = "cadp",
        progress: Callable[[CadpProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.learner, self.settings = learner, settings
        self.plan = Plan.of(settings, len(flagged), mechanism)
        self.account, self.history = PrivacyAccount(), list[Point]()
        self._flags = torch.tensor(flagged, dtype=torch.bool)
        self._source = randomness(settings.seed)
        self._batch = self.plan.rate * len(flagged)  # the expected size of a batch
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self._optimizer = kind(learner.parameters, lr=settings.learning_rate)
        self._mark = fingerprint((settings, mechanism), learner.records, flagged, learner.parameters)
        self._clock = _Clock(learner.preparation / settings.passes, self.plan.steps, progress, cancelled)

    def run(self, folder: Path | None = None) -> Trained:
        """Train to the end. With a `folder`, a second call goes on from where a first one was stopped.

        What is kept there is private material: keep it as safe as the corpus, and delete it afterwards. What
        a crash does to the account is said in `checkpoint`.
        """
        self._resume(folder)
        self._clock.start(self.history)
        if len(self.history) < self.plan.steps:
            try:
                self.learner.prepare(folder, self._clock.read)
                self._train(folder)
            finally:
                self.learner.close()
        return Trained(self.plan, self.account, tuple(self.history))

    def _train(self, folder: Path | None) -> None:
        private = private_optimizer(
            self._optimizer,
            noise=self.plan.noise,
            clip=self.settings.clip,
            batch=self._batch,
            rate=self.plan.rate,
            source=self._source,
            account=self.account,
        )
        for step in range(len(self.history), self.plan.steps):
            for group in self._optimizer.param_groups:
                group["lr"] = self._learning_rate(step)
            self._source.start(step)
            self.history.append(self._step(step + 1, private))
            last = step + 1 == self.plan.steps
            stop = self._clock.cancelled() and not last
            if folder is not None and (stop or last or (step + 1) % self.settings.checkpoint_steps == 0):
                self._keep(folder)
            self._clock.trained(self.history[-1])
            if stop:
                raise TrainingCancelled(_STOPPED)

    def _step(self, number: int, private: PrivateOptimizer) -> Point:
        """Lines 3 to 5 of Algorithm 1 on one Poisson batch."""
        drawn = self._source.batch(len(self._flags), self.plan.rate)
        flagged, others = drawn[self._flags[drawn]], drawn[~self._flags[drawn]]
        losses = []
        self._optimizer.zero_grad(set_to_none=True)
        if self.plan.private:
            losses.append(private_gradient(self.learner, flagged, private))
            if self.settings.updates == "in turn":
                self._optimizer.step()
                self._optimizer.zero_grad(set_to_none=True)
        losses.append(plain_gradient(self.learner, others, self._batch))
        self._optimizer.step()
        loss = float(torch.cat(losses).mean()) if len(drawn) else None
        return Point(number, loss, self.account.epsilon(self.settings.delta), len(drawn), len(flagged))

    def _learning_rate(self, step: int) -> float:
        """Linear warm-up, then linear decay to zero."""
        warm = max(1, round(self.plan.steps * self.settings.warmup))
        if step < warm:
            return self.settings.learning_rate * (step + 1) / warm
        return self.settings.learning_rate * (self.plan.steps - step) / max(1, self.plan.steps - warm)

    def _keep(self, folder: Path) -> None:
        memory = [
            {name: torch.as_tensor(value).cpu() for name, value in self._optimizer.state[p].items()}
            for p in self.learner.parameters
            if self._optimizer.state.get(p)
        ]
        weights = [p.detach().cpu() for p in self.learner.parameters]
        history = [list(astuple(point)) for point in self.history]
        write_reached(
            folder,
            Reached(
                fingerprint=self._mark,
                account=self.account.state(),
                steps=self.plan.steps,
                share=self._clock.reached(len(history)),
                history=history,
                weights=weights,
                memory=memory,
            ),
        )

    def _resume(self, folder: Path | None) -> None:
        """Take over what an earlier run of this very training reached; of anything else nothing is taken."""
        found = read_reached(folder) if folder is not None else None
        if found is None or found.fingerprint != self._mark:
            return
        account = PrivacyAccount.restore(found.account)
        if account.steps != (len(found.history) if self.plan.private else 0):
            return  # weights whose updates are not all accounted are never gone on from
        self.account = account
        self.history = [Point(*values) for values in found.history]
        for i, p in enumerate(self.learner.parameters):
            p.data.copy_(found.weights[i])
            if found.memory:
                self._optimizer.state[p] = {
                    name: value.to(p.device) if name != "step" else value
                    for name, value in found.memory[i].items()
                }


class _Clock:
    """How far training is and how long the rest takes; work is counted in steps."""

    def __init__(
        self,
        preparation: float,
        steps: int,
        progress: Callable[[CadpProgress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._reading, self._steps = preparation * steps, steps
        self._progress, self._cancelled = progress, cancelled
        self._begun, self._first = monotonic(), 0
        self._history: Sequence[Point] = ()

    def start(self, history: Sequence[Point]) -> None:
        """Begin, with the steps that an earlier run has made."""
        self._begun, self._history, self._first = monotonic(), history, len(history)

    def reached(self, steps: int) -> float:
        """The share that is done with so many steps."""
        return (self._reading + steps) / (self._reading + self._steps) if steps else 0.0

    def cancelled(self) -> bool:
        """Whether someone asked to stop."""
        return self._cancelled is not None and self._cancelled()

    def read(self, share: float) -> None:
        """So much of the preparation is done; every run begins with it."""
        epsilon = self._history[-1].epsilon if self._history else 0.0
        self._tell("reading", self._reading * share, Point(self._first, None, epsilon, 0, 0))
        if self.cancelled():
            raise TrainingCancelled(_STOPPED)

    def trained(self, point: Point) -> None:
        """A step is done."""
        self._tell("training", self._reading + point.step - self._first, point)

    def _tell(self, stage: Stage, done: float, point: Point) -> None:
        """The share goes on from what an earlier run reached, and never back."""
        if self._progress is None:
            return
        work = self._reading + self._steps - self._first  # of this run
        left = max(0.0, work - done)
        seconds = (monotonic() - self._begun) * left / done if done > 0.0 else 0.0
        share = 1.0 - (1.0 - self.reached(self._first)) * left / work
        self._progress(
            CadpProgress(
                stage, point.step, self._steps, share, seconds, point.loss, point.epsilon, self._history
            )
        )
