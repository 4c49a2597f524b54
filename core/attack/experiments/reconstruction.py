"""The reconstruction run: a text is sanitised as its owner would, then two attackers try to undo it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments.pace import pace_of_public
from core.attack.experiments.verdicts import count, percent
from core.attack.intervals import Interval
from core.attack.kept.runs import BarData, Finding, Outcome, Picture
from core.attack.sanitised.reconstruction import ATTACKERS, Attacker, Reconstruction, reconstruct
from core.attack.watch import Reached, Watch
from core.errors import InputError
from core.lm.public import PublicModel
from core.sanitize import AllWords, Digits, Mechanism, Policy, Sanitized, sanitize

TARGETS = {"smdp": "SMDP (numbers only)", "mdp": "MDP (every word)"}
ATTACKER_NAMES = {"nearest": "nearest words", "bayes": "language model"}
DEFAULT_TEXT = (
    "Mary Brown, 47, was admitted on 12 March 2019 with a fever of 39. The door code of her flat is 4121 and "
    "her locker opens with 5056. Dr Patel gave her 500 mg of paracetamol at 9 and wrote to room 204."
)
_NEAREST = 0.03  # seconds a word
_READS = 110  # model tokens that a word takes the language model, about


@dataclass(frozen=True)
class ReconstructionPlan:
    """What is undone: a text at an epsilon for each word; `most` words are attacked for each bar."""

    text: str = DEFAULT_TEXT
    epsilon: float = 12.0
    targets: tuple[str, ...] = ("smdp", "mdp")
    noise: str = "euclidean"
    most: int = 20

    def __post_init__(self) -> None:
        wrong = [target for target in self.targets if target not in TARGETS]
        if wrong or not self.targets:
            raise InputError(f"What is undone is one of {', '.join(TARGETS)}, or both.")
        if not self.most >= 1:
            raise InputError("At least one word must be attacked.")


def prepare_reconstruction(
    mechanism: Mechanism, public: Callable[[], PublicModel], *, seed: int, plan: ReconstructionPlan
) -> Prepared:
    """Sanitise once for each target; a text without anything to perturb is refused here."""
    work = _ReconstructionRun(mechanism, public, plan, seed)
    pace = pace_of_public(public())
    takes = {"nearest": _NEAREST, "bayes": _READS * pace.batched}  # seconds a word
    steps = []
    for target, result in work.sanitised.items():
        words = min(plan.most, result.perturbed)
        for attacker in ATTACKERS:
            steps.append(Step(takes[attacker] * words, work.undoes(target, attacker)))
    return Prepared(
        attack="reconstruction",
        subject="a sanitised text",
        synthetic=plan.text == DEFAULT_TEXT,
        seed=seed,
        steps=tuple(steps),
        conclude=work.conclude,
        settings={
            "epsilon for each word": f"{plan.epsilon:g}",
            "mechanism": mechanism.name,
            "words of the text": str(next(iter(work.sanitised.values())).words),
            "attacked at most": f"{plan.most} words",
        },
    )


class _ReconstructionRun:
    """What the steps have found so far. The noise is never seeded, for it is the mechanism's."""

    def __init__(
        self,
        mechanism: Mechanism,
        public: Callable[[], PublicModel],
        plan: ReconstructionPlan,
        seed: int,
    ) -> None:
        self.mechanism, self.public, self.plan, self.seed = mechanism, public, plan, seed
        policies: dict[str, Policy] = {"smdp": Digits(), "mdp": AllWords()}
        self.sanitised: dict[str, Sanitized] = {
            target: sanitize(plan.text, mechanism, policies[target]) for target in plan.targets
        }
        for target, result in self.sanitised.items():
            if not result.perturbed:
                raise InputError(
                    f"{TARGETS[target]} perturbs no word of this text, so nothing can be undone."
                )
        self.found: list[tuple[str, Attacker, Reconstruction]] = []

    def undoes(self, target: str, attacker: Attacker) -> Find:
        """The step in which one attacker guesses every perturbed word."""

        def find(watch: Watch) -> list[Finding]:
            def reached(now: Reached) -> None:
                watch.at(now.share, f"undoing {TARGETS[target]}: {now.doing}")

            result = reconstruct(
                self.sanitised[target],
                self.mechanism,
                attacker=attacker,
                public=self.public() if attacker == "bayes" else None,
                most=self.plan.most,
                rng=np.random.default_rng(self.seed),
                progress=reached,
            )
            self.found.append((target, attacker, result))
            share = Interval(result.rate, result.low, result.high)
            note = f"{count(result.undone)} of these had become another word"
            return [
                Finding.of(
                    "reconstruction", f"{TARGETS[target]} at epsilon {self.plan.epsilon:g}",
                    f"words named, by {ATTACKER_NAMES[attacker]}", share, unit="share",
                    count=result.right, total=len(result.words), note=note,
                )
            ]  # fmt: skip

        return find

    def conclude(self) -> Outcome:
        """Both attackers side by side for each target, and the better one in words."""
        if not self.found:
            return Outcome()
        bars = [
            BarData(ATTACKER_NAMES[attacker], each.rate, each.low, each.high, TARGETS[target])
            for target, attacker, each in self.found
        ]
        return Outcome(
            pictures=(
                Picture("Perturbed words that were named", "share of perturbed words", tuple(bars), 1.0),
            ),
            verdict=tuple(self._said(target) for target in dict.fromkeys(t for t, _, _ in self.found)),
            notes=(
                "The attacker knows the mechanism, epsilon, vocabulary and which words were perturbed. "
                "A word that came back by chance counts as named.",
                "The intervals take words as independent, which words of one text are not quite.",
            ),
        )

    def _said(self, target: str) -> str:
        best = max((each for t, _, each in self.found if t == target), key=lambda each: each.right)
        changed = ""
        if best.undone:
            changed = f"; {best.undone} of them had become another word"
        elif best.right:
            changed = "; the noise had left what it names as it was"
        return (
            f"After {TARGETS[target]} at epsilon {self.plan.epsilon:g} the attacker names "
            f"{count(best.right)} of {len(best.words)} perturbed words, interval {percent(best.low)} to "
            f"{percent(best.high)} %{changed}."
        )
