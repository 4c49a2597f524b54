"""One adapter's data and schedule, which depend on nothing but its own documents and public settings."""

from core.lm.sequences import batches, cut, hold_out, seed_of
from core.lm.training import AdapterData, TrainingSettings


class TrainingRow:
    """One adapter's data and schedule."""

    def __init__(self, data: AdapterData, settings: TrainingSettings, separator: int) -> None:
        self.data = data
        self.seed = seed_of(settings.seed, data.name)
        share = settings.validation if data.validation is None else data.validation
        learn, check = hold_out(data.documents, share, self.seed)
        self.learn = cut(learn, settings.length, separator)
        self.check = cut(check, settings.length, separator)
        self.passes = settings.passes if data.passes is None else data.passes
        self.steps_a_pass = -(-len(self.learn) // settings.batch)
        self.steps = self.steps_a_pass * self.passes
        self._settings = settings

    def rate(self, step: int) -> float:
        """The learning rate of the adapter's own step: linear warm-up, then linear decay to zero."""
        warm = max(1, round(self.steps * self._settings.warmup))
        if step < warm:
            return self._settings.learning_rate * (step + 1) / warm
        return self._settings.learning_rate * (self.steps - step) / max(1, self.steps - warm)

    def batch(self, step: int) -> list[int]:
        """Which sequences the adapter reads at its step."""
        number, within = divmod(step, self.steps_a_pass)
        return batches(len(self.learn), self._settings.batch, number, self.seed)[within]

    def read_after(self, steps: int) -> int:
        """How many sequences the adapter has read by then; the last batch of a pass may be short."""
        if not steps:
            return 0
        passes, within = divmod(steps, self.steps_a_pass)
        return passes * len(self.learn) + min(len(self.learn), within * self._settings.batch)
