"""How fast the models are here and now, by a short trial: what time estimates are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from core.attack.branches import Branches
from core.attack.targets import Subject, Target

_PROMPT = 12  # tokens of the trial
_BRANCHES = 8


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
    known: dict[tuple[str, ...], Pace] = {}
    for target in targets:
        rows = subject.rows(target)
        if rows.names not in known:
            known[rows.names] = _try(Branches(subject.public, rows))
    return {target: known[subject.rows(target).names] for target in targets}


def _try(branches: Branches) -> Pace:
    prompt = list(range(1, _PROMPT + 1))
    branches.start(prompt[:1])  # the first pass lays the weights out
    read = _seconds(lambda: branches.start(prompt))
    root, _ = branches.start(prompt[:2])
    step = _seconds(lambda: branches.extend([root], [1]))
    batch = _seconds(lambda: branches.extend([root] * _BRANCHES, [1] * _BRANCHES))
    # Weights, losses, the debit and the draw are about a fifth on top of the models.
    return Pace(read / _PROMPT, 1.2 * step, 1.2 * batch / _BRANCHES)


def _seconds(work: Callable[[], object]) -> float:
    """The shortest of three: what else the machine does for a moment is no part of the pace."""
    found = []
    for _ in range(3):
        begun = perf_counter()
        work()
        found.append(perf_counter() - begun)
    return min(found)
