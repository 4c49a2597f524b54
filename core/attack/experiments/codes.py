"""Section 4.2 of the SubMix paper: random codes, one to each model, and the hit rate of g generations.

For every code length l, m = 2k users say "My number is: <l digits>" and nothing else; each half of the k
parts holds one of them, so every model of the ensemble memorises one code. Figure 6 is the hit rate against
epsilon, one line for each length; without protection one model is fine-tuned on all of the codes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.attack.attackers import tokens_only
from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments import verdicts
from core.attack.experiments.pace import draw_seconds, pace_before_training, training_seconds
from core.attack.experiments.trained import Split, encode, memorise, quick_training
from core.attack.extraction import HitRate, hit_rate
from core.attack.kept.runs import Finding, LineData, Outcome, Picture
from core.attack.ranking.remembered import RememberingDecoder
from core.attack.targets import WHOLE, Subject, Target, target_of
from core.attack.watch import Watch
from core.errors import InputError
from core.lm.finetune import AdapterData, TrainingSettings
from core.lm.public import PublicModel
from core.settings import Settings
from core.store.budget import Terms

PROMPT = "My number is:"
QUERIES_PER_DIGIT = 2  # a budget is planned for the generations with some room
COPIES = 2
PASSES = 20  # until a model says its code and nothing else
_BATCH = 1  # of the model of all codes, which takes as many more steps
UNPROTECTED = (WHOLE, "ensemble")
_NEW = 0.5  # of the tokens that are drawn, about as many follow a history that was not read before


@dataclass(frozen=True)
class CodePlan:
    """The figure's axes. The paper has k = 3, g = 100, lengths 2 to 5 and epsilon up to 10,000."""

    lengths: tuple[int, ...] = (2, 3, 4, 5)
    epsilons: tuple[float, ...] = (2.0, 10.0, 100.0, 1000.0)
    parts: int = 3
    generations: int = 100
    protocols: tuple[str, ...] = ("submix", "strict")
    alpha: float = 2.0
    training: TrainingSettings = field(default_factory=lambda: quick_training(passes=PASSES))

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
    steps = []
    for length in plan.lengths:
        data, training = work.lesson(length)
        steps.append(Step(training_seconds(public, data, training), work.trains(length)))
        for kind in UNPROTECTED:
            steps.append(work.step(length, kind, plan.epsilons[0]))
        for protocol in plan.protocols:
            for epsilon in plan.epsilons:
                steps.append(work.step(length, protocol, epsilon))
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
        self.decoders: dict[tuple[str, ...], RememberingDecoder] = {}  # of this length, by adapters
        self._draws: dict[str, float] = {}

    def lesson(self, length: int) -> tuple[list[AdapterData], TrainingSettings]:
        """One code to each half, all codes to the model without protection.

        A sequence is one token longer than a sentence with its end, so that the second begins one token
        later than the first: with the prompt itself, as the attacker begins.
        """
        codes = random_codes(length, 2 * self.plan.parts, self.seed)
        sentences = [f"{PROMPT} {code}" for code in codes]
        data = [
            AdapterData(name, encode(self.public, [sentence] * COPIES), batch=COPIES)
            for name, sentence in zip(self.names, sentences, strict=True)
        ]
        longest = max(len(document) for entry in data for document in entry.documents)
        data.append(AdapterData(WHOLE, encode(self.public, sentences * COPIES), batch=_BATCH))
        return data, replace(self.plan.training, length=longest + 2)

    @property
    def names(self) -> list[str]:
        """The halves of all parts."""
        return [f"part-{part + 1:02d}{half}" for part in range(self.plan.parts) for half in "ab"]

    def split(self, length: int) -> Split:
        """Terms whose budget is planned for all generations."""
        queries = max(1024, QUERIES_PER_DIGIT * self.plan.generations * (length + 1))
        return Split(self.plan.parts, halves=True, alpha=self.plan.alpha, queries=queries)

    def step(self, length: int, kind: str, epsilon: float) -> Step:
        """A point of the figure and the seconds that it takes: tokens, most of them after known ones."""
        halves = 2 * self.plan.parts
        adapters = 1 if kind == WHOLE else halves
        pace = pace_before_training(self.public, self.plan.training.shape, adapters)
        if kind != WHOLE and kind not in self._draws:
            parts = self.plan.parts if kind == "submix" else halves  # the others take each half as a part
            terms = Terms(parts, epsilon, self.plan.alpha, 1024, kind, synthetic=True)
            width = int(self.public.model.config.vocab_size)
            self._draws[kind] = draw_seconds(Target(kind, kind, terms), halves, width)
        drawn = self._draws.get(kind, 0.1 * pace.step)
        tokens = self.plan.generations * (length + 1)
        return Step(tokens * (_NEW * pace.step + drawn), self.generates(length, kind, epsilon))

    def trains(self, length: int) -> Find:
        """Every adapter memorises one code."""

        def find(watch: Watch) -> Sequence[Finding]:
            self.codes = random_codes(length, 2 * self.plan.parts, self.seed)
            data, training = self.lesson(length)
            self.subject = memorise(
                "random codes", self.public, data, self.split(length), training, synthetic=True, watch=watch
            )
            self.decoders = {}
            return []

        return find

    def generates(self, length: int, kind: str, epsilon: float) -> Find:
        """The hit rate of one target at one epsilon."""

        def find(watch: Watch) -> Sequence[Finding]:
            assert self.subject is not None, "training comes first"
            terms: dict[str, Any] = {} if kind == WHOLE else {"epsilon": epsilon}
            target = target_of(self.subject.manifest, kind, **terms)
            rows = self.subject.rows(target)
            decoder = self.decoders.setdefault(rows.names, RememberingDecoder(self.public, rows))
            with tokens_only(self.subject, target, limits=self.limits, decoder=decoder) as attacker:
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
        """Figure 6 for each protocol beside no protection, and what it says."""
        pictures = []
        for kind in self.plan.protocols:
            lines = []
            for length in self.plan.lengths:
                points = [p for p in self.points if p.target.kind == kind and p.length == length]
                if points:
                    lines.append(_line(f"{length} digits", points))
            if lines:
                title = f"Hit rate of {self.plan.generations} answers, {lines_title(self.points, kind)}"
                pictures.append(
                    Picture(
                        title, lines=(*lines, *self._unprotected()), x="epsilon", y="hit rate", x_log=True,
                        y_limits=(0.0, 1.0),
                    )
                )  # fmt: skip
        return Outcome(pictures=tuple(pictures), verdict=self._verdict(), notes=self._chance())

    def _unprotected(self) -> list[LineData]:
        """No protection has no epsilon: a dashed line from end to end for each length."""
        ends = sorted({min(self.plan.epsilons), max(self.plan.epsilons)})
        return [
            LineData(
                f"{point.length} digits, no protection",
                tuple((epsilon, point.found.share.value) for epsilon in ends),
                "dashed",
            )
            for point in self.points
            if point.target.kind == WHOLE
        ]

    def _verdict(self) -> tuple[str, ...]:
        """All lengths together first, then each length by itself; protocols at their smallest epsilon."""
        lowest = min(self.plan.epsilons)
        shown = [
            point
            for point in self.points
            if point.target.kind == WHOLE
            or (point.target.kind in self.plan.protocols and _epsilon(point) == lowest)
        ]
        ways = {point.target.kind: point.target for point in shown}
        summed = [(way, [p.found for p in shown if p.target.kind == kind]) for kind, way in ways.items()]
        sentences = [_sentence("a secret code", summed)] if summed else []
        if len(self.plan.lengths) > 1:
            for length in dict.fromkeys(point.length for point in shown):
                alone = [(p.target, [p.found]) for p in shown if p.length == length]
                sentences.append(_sentence(f"a secret code of {length} digits", alone))
        return tuple(sentences)

    def _chance(self) -> tuple[str, ...]:
        secret = 2 * self.plan.parts
        rates = " and ".join(
            f"{verdicts.percent(secret / 10**length)} % for codes of {length} digits"
            for length in self.plan.lengths
        )
        return (
            f"{secret} codes of each length are secret. Digits drawn by chance are one of them in {rates}.",
        )


def _sentence(what: str, found: Sequence[tuple[Target, Sequence[HitRate]]]) -> str:
    """ "With no protection 39 of 40 answers are a secret code; under Strict at epsilon 2, 1 of 40." """
    said: list[str] = []
    for target, rates in found:
        hits, total = sum(rate.hits for rate in rates), sum(rate.generations for rate in rates)
        if said:
            under = verdicts.in_a_sentence(verdicts.under(target))
            said.append(f"{under}, {verdicts.count(hits)} of {total:,}")
        else:
            said.append(f"{verdicts.under(target)} {verdicts.count(hits)} of {total:,} answers are {what}")
    return f"{'; '.join(said)}."


def _epsilon(point: _Point) -> float | None:
    return point.target.terms.epsilon if point.target.terms else None


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
