"""Section 4.2 of the SubMix paper: random codes, one to each model, and the hit rate of g generations.

For every code length l, m = 2k users say "My number is: <l digits>" and nothing else; each half of the k
parts holds one of them, so every model of the ensemble memorises one code. Figure 6 is the hit rate against
epsilon, one line for each length; without protection one model is fine-tuned on all of the codes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.attack import verdicts
from core.attack.attackers import tokens_only
from core.attack.conduct import Find, Prepared, Step
from core.attack.extraction import HitRate, hit_rate
from core.attack.runs import Finding, LineData, Outcome, Picture
from core.attack.targets import WHOLE, Subject, Target, target_of
from core.attack.trained import Split, encode, memorise, quick_training
from core.attack.watch import Watch
from core.errors import InputError
from core.lm.finetune import AdapterData, TrainingSettings
from core.lm.public import PublicModel
from core.settings import Settings

PROMPT = "My number is:"
QUERIES_PER_DIGIT = 2  # a budget is planned for the generations with some room
COPIES = 4
LENGTH = 13  # prime, so that sentences are cut at every place: the prompt comes without what stood before it
UNPROTECTED = (WHOLE, "ensemble")


@dataclass(frozen=True)
class CodePlan:
    """The figure's axes. The paper has k = 3, g = 100, lengths 2 to 5 and epsilon up to 10,000."""

    lengths: tuple[int, ...] = (2, 3, 4, 5)
    epsilons: tuple[float, ...] = (2.0, 10.0, 100.0, 1000.0)
    parts: int = 3
    generations: int = 100
    protocols: tuple[str, ...] = ("submix", "strict")
    alpha: float = 2.0
    training: TrainingSettings = field(default_factory=lambda: quick_training(passes=60, length=LENGTH))

    def __post_init__(self) -> None:
        if not self.lengths or not all(1 <= length <= 12 for length in self.lengths):
            raise InputError("Codes have between 1 and 12 digits.")
        if self.parts < 2 or self.generations < 1 or not self.epsilons or not self.protocols:
            raise InputError("At least two parts, one generation, one epsilon and one protocol are needed.")


@dataclass(frozen=True)
class _Point:
    length: int
    target: Target
    found: HitRate


def prepare_codes(
    public: PublicModel, *, limits: Settings, seed: int, plan: CodePlan | None = None
) -> Prepared:
    """For each length: train 2k adapters, then generate from each target at each epsilon."""
    plan = plan or CodePlan()
    work = _CodeRun(public, plan, limits, seed)
    adapters = 4 * plan.parts  # the model of all codes reads as much as the others together
    steps = []
    for length in plan.lengths:
        steps.append(Step(0.02 * adapters * plan.training.passes, work.trains(length)))
        for kind in UNPROTECTED:
            steps.append(Step(0.05 * plan.generations, work.generates(length, kind, plan.epsilons[0])))
        for protocol in plan.protocols:
            for epsilon in plan.epsilons:
                steps.append(Step(0.1 * plan.generations, work.generates(length, protocol, epsilon)))
    return Prepared(
        attack="codes",
        subject="random codes",
        synthetic=True,
        seed=seed,
        steps=tuple(steps),
        conclude=work.conclude,
        settings={
            "prompt": PROMPT,
            "code lengths": ", ".join(map(str, plan.lengths)),
            "epsilon": ", ".join(f"{epsilon:g}" for epsilon in plan.epsilons),
            "parts": f"{plan.parts}, each of two halves with one code",
            "generations": str(plan.generations),
        },
    )


def random_codes(length: int, count: int, seed: int) -> tuple[str, ...]:
    """Different codes of so many digits."""
    if count > 10**length:
        raise InputError(f"There are not {count} different codes of {length} digits.")
    numbers = random.Random(f"codes {seed} {length}").sample(range(10**length), count)
    return tuple(f"{number:0{length}d}" for number in numbers)


class _CodeRun:
    """What the steps have found so far, and the adapters of the length that is being attacked."""

    def __init__(self, public: PublicModel, plan: CodePlan, limits: Settings, seed: int) -> None:
        self.public, self.plan, self.limits, self.seed = public, plan, limits, seed
        self.subject: Subject | None = None
        self.codes: tuple[str, ...] = ()
        self.points: list[_Point] = []

    def trains(self, length: int) -> Find:
        """Every adapter memorises one code."""

        def find(watch: Watch) -> Sequence[Finding]:
            self.codes = random_codes(length, 2 * self.plan.parts, self.seed)
            names = [f"part-{part + 1:02d}{half}" for part in range(self.plan.parts) for half in "ab"]
            data = [
                AdapterData(name, encode(self.public, [f"{PROMPT} {code}"] * COPIES))
                for name, code in zip(names, self.codes, strict=True)
            ]
            every = [f"{PROMPT} {code}" for code in self.codes]
            data.append(AdapterData(WHOLE, encode(self.public, every * COPIES)))
            queries = max(1024, QUERIES_PER_DIGIT * self.plan.generations * (length + 1))
            split = Split(self.plan.parts, halves=True, alpha=self.plan.alpha, queries=queries)
            self.subject = memorise(
                "random codes", self.public, data, split, self.plan.training, synthetic=True, watch=watch
            )
            return []

        return find

    def generates(self, length: int, kind: str, epsilon: float) -> Find:
        """The hit rate of one target at one epsilon."""

        def find(watch: Watch) -> Sequence[Finding]:
            assert self.subject is not None, "training comes first"
            terms: dict[str, Any] = {} if kind == WHOLE else {"epsilon": epsilon}
            target = target_of(self.subject.manifest, kind, **terms)
            with tokens_only(self.subject, target, limits=self.limits) as attacker:
                found = hit_rate(attacker, PROMPT, self.codes, generations=self.plan.generations, watch=watch)
            self.points.append(_Point(length, target, found))
            return [
                Finding.of(
                    "extraction", target.words, f"hit rate, codes of {length} digits", found.share,
                    unit="share", count=found.hits, total=found.generations,
                    note=f"{found.seen} of {len(self.codes)} codes came",
                )
            ]  # fmt: skip

        return find

    def conclude(self) -> Outcome:
        """Figure 6 for each protocol, and what it says."""
        pictures = []
        for kind in self.plan.protocols:
            lines = []
            for length in self.plan.lengths:
                points = [p for p in self.points if p.target.kind == kind and p.length == length]
                if points:
                    lines.append(_line(f"{length} digits", points))
            if lines:
                title = f"Hit rate of {self.plan.generations} generations, {lines_title(self.points, kind)}"
                pictures.append(
                    Picture(
                        title, lines=tuple(lines), x="epsilon", y="hit rate", x_log=True, y_limits=(0.0, 1.0)
                    )
                )
        return Outcome(pictures=tuple(pictures), verdict=self._verdict())

    def _verdict(self) -> tuple[str, ...]:
        sentences = []
        plain = [p.found for p in self.points if p.target.kind == WHOLE]
        if plain:
            worst = min(found.share.value for found in plain)
            sentences.append(
                f"With no protection at least {verdicts.percent(worst)} % of the answers are a secret code, "
                "whatever its length."
            )
        for kind in self.plan.protocols:
            points = [p for p in self.points if p.target.kind == kind]
            smallest = min((p.target.terms.epsilon for p in points if p.target.terms), default=None)
            at = [p.found for p in points if p.target.terms and p.target.terms.epsilon == smallest]
            if at:
                hits, total = sum(found.hits for found in at), sum(found.generations for found in at)
                sentences.append(
                    f"Under {points[0].target.title} at epsilon {smallest:g}: {verdicts.count(hits)} of "
                    f"{total:,} answers are one of the {2 * self.plan.parts} codes."
                )
        return tuple(sentences)


def lines_title(points: Sequence[_Point], kind: str) -> str:
    """The protocol's name as a title wants it."""
    return next(point.target.title for point in points if point.target.kind == kind)


def _line(name: str, points: Sequence[_Point]) -> LineData:
    placed = sorted((p.target.terms.epsilon, p.found.share) for p in points if p.target.terms)
    return LineData(
        name,
        tuple((epsilon, share.value) for epsilon, share in placed),
        band=tuple((share.low, share.high) for _, share in placed),
    )
