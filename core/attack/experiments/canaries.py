"""The canary experiment: plant secrets in a copy of a corpus by coin flips, train, attack, audit.

Each canary is planted if a fair coin says so. What was planted and what was not are alike in everything else,
so the second group shows what an unmemorised secret looks like, and guessing the coins bounds epsilon from
below (`core.attack.audits.audit`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.attack.attackers import WithLikelihoods, tokens_only
from core.attack.audits.audit import guess_coins, one_run_bound
from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments import verdicts
from core.attack.experiments.distribution import distribution, extrapolated
from core.attack.experiments.pace import pace_before_training, training_seconds
from core.attack.experiments.planting import CanaryPlan, Planted, plant_by_coins
from core.attack.experiments.private_training import SANITISED, title_of, train_privately
from core.attack.experiments.trained import encode, lessons, split_key, train_subject
from core.attack.extraction import Extraction, Question, ask_for_secrets
from core.attack.intervals import Interval
from core.attack.kept.runs import BarData, Finding, Outcome, Picture
from core.attack.ranking.exposure import BASELINE, Exposure, exposure, summary
from core.attack.ranking.search import log_likelihood
from core.attack.ranking.spelling import Spelling, spell
from core.attack.targets import PRIVATE_TRAININGS, PUBLIC, TITLES, WHOLE, Subject, Target, target_of
from core.attack.watch import Watch
from core.corpus.documents import Corpus
from core.corpus.partition import partition_corpus
from core.errors import InputError
from core.lm.finetune import AdapterData
from core.lm.public import PublicModel
from core.predict import Decoding
from core.settings import Settings

DELTA = 1e-5
_READS = 150  # model tokens that ranking one canary takes at a small effort, about
_BY_GRADIENT = 2.5  # times a plain training, about


def prepare_canaries(
    corpus: Corpus, public: PublicModel, *, limits: Settings, seed: int, plan: CanaryPlan | None = None
) -> Prepared:
    """Plant, train and attack; format, corpus and parts are checked before anything is trained."""
    plan = plan or CanaryPlan()
    spellings = [spell(public.tokenizer, form) for form in plan.forms]
    planted = plant_by_coins(corpus, plan, seed)
    work = _CanaryRun(planted, spellings, public, plan, limits, seed)
    work.check()
    steps = []
    if not set(plan.targets) <= set(PRIVATE_TRAININGS):  # which need neither the parts nor the whole
        steps.append(Step(work.training_takes(), work.trains))
    for kind in plan.targets:
        if kind in PRIVATE_TRAININGS:
            steps.append(Step(work.private_training_takes(kind), work.trains_privately(kind)))
        steps.append(Step(work.attack_takes(kind), work.attacks(kind)))
    return Prepared(
        attack="canaries",
        subject=corpus.name,
        synthetic=corpus.synthetic,
        seed=seed,
        steps=tuple(steps),
        conclude=work.conclude,
        settings={
            "format": plan.template,
            "canaries": f"{sum(planted.included)} of {plan.canaries} planted, by coin flips",
            "copies of each": f"{plan.copies}, {'with one user' if plan.among == 'one' else 'spread'}",
            "parts": str(plan.split.parts),
            "epsilon": f"{plan.split.epsilon:g} at order {plan.split.alpha:g}",
            "documents around them": str(len(planted.corpus.documents) - plan.copies * sum(planted.included)),
        },
    )


@dataclass(frozen=True)
class _Result:
    target: Target
    inside: tuple[Exposure, ...]
    outside: tuple[Exposure, ...]
    bits_inside: Interval
    bits_outside: Interval
    extraction: Extraction
    bound: float
    meaning: str


class _CanaryRun:
    """What the steps have found so far."""

    def __init__(
        self,
        planted: Planted,
        spellings: Sequence[Spelling],
        public: PublicModel,
        plan: CanaryPlan,
        limits: Settings,
        seed: int,
    ) -> None:
        self.planted, self.spellings, self.public = planted, spellings, public
        self.plan, self.limits, self.seed = plan, limits, seed
        self.subject: Subject | None = None
        self.alone: dict[str, tuple[Subject, Target]] = {}  # what was trained privately, by kind
        self.results: list[_Result] = []

    def check(self) -> None:
        """Refuse a corpus that is too small for its parts before time is spent on it."""
        split = self.plan.split
        for kind in self.plan.targets:
            if kind in PRIVATE_TRAININGS:
                title_of(kind, self.plan.protection)
            elif kind not in TITLES:
                raise InputError(
                    f"A target is one of {', '.join((*TITLES, *PRIVATE_TRAININGS))} (it is {kind!r})."
                )
        if "submix" in self.plan.targets and not split.halves:
            raise InputError("SubMix needs two halves of each part; train halves, or leave it out.")
        partition_corpus(self.planted.corpus, split.parts, key=split_key(self.seed), halves=split.halves)

    def training_takes(self) -> float:
        """Seconds, by a trial: the parts and the whole."""
        data = lessons(self.planted.corpus, self.public, self.plan.split, seed=self.seed)
        return training_seconds(self.public, data, self.plan.split.trained(self.plan.training))

    def private_training_takes(self, kind: str) -> float:
        """Seconds: one adapter on everything, and what each gradient by itself costs on top."""
        texts = [document.text for document in self.planted.corpus.documents]
        whole = [AdapterData(kind, encode(self.public, texts))]
        plain = training_seconds(self.public, whole, self.plan.training)
        return (1.1 if kind in SANITISED else _BY_GRADIENT) * plain

    def attack_takes(self, kind: str) -> float:
        """Seconds: every canary is ranked, about half of them asked for."""
        split, alone = self.plan.split, kind in PRIVATE_TRAININGS or kind in (WHOLE, PUBLIC)
        adapters = 1 if alone else split.models
        pace = pace_before_training(self.public, self.plan.training.shape, adapters)
        return self.plan.canaries * (_READS * pace.batched + 0.5 * pace.answers(1, 12.0, 6.0))

    def trains(self, watch: Watch) -> list[Finding]:
        """Train one adapter on each part and one on everything."""
        self.subject = train_subject(
            self.planted.corpus, self.public, self.plan.split, self.plan.training, seed=self.seed, watch=watch
        )
        return []

    def trains_privately(self, kind: str) -> Find:
        """Train one adapter on everything by a training that protects what it reads."""

        def find(watch: Watch) -> list[Finding]:
            self.alone[kind] = train_privately(
                kind,
                self.planted.corpus,
                self.public,
                self.plan.training,
                settings=self.limits,
                protection=self.plan.protection,
                watch=watch,
            )
            return []

        return find

    def attacks(self, kind: str) -> Find:
        """Exposure, extraction and the one-run audit on one target."""

        def find(watch: Watch) -> list[Finding]:
            if kind in self.alone:
                subject, target = self.alone[kind]
            else:
                assert self.subject is not None, "training is the first step"
                subject = self.subject
                target = target_of(subject.manifest, kind, experiment=True)
            result = self._attack(subject, target, watch)
            self.results.append(result)
            return _findings(result, self.plan.canaries)

        return find

    def _attack(self, subject: Subject, target: Target, watch: Watch) -> _Result:
        rng = np.random.default_rng(self.seed)
        attacker, plain = WithLikelihoods(subject, target), WithLikelihoods(subject, _public(subject))
        exposures, gains = [], []
        pairs = list(zip(self.planted.canaries, self.spellings, strict=True))
        for number, (piece, (canary, spelling)) in enumerate(watch.part(0.0, 0.7).parts(pairs), 1):
            tokens = spelling.tokens(canary.index)
            said = piece.about(f"{target.title}, canary {number} of {len(pairs)}")
            found = exposure(
                attacker.reader(), spelling, tokens, rng=rng, effort=self.plan.effort, watch=said
            )
            exposures.append(found)
            gains.append(found.log_likelihood - log_likelihood(plain.reader(), spelling.prompt, tokens))
        coins = self.planted.included
        inside = tuple(e for e, coin in zip(exposures, coins, strict=True) if coin)
        outside = tuple(e for e, coin in zip(exposures, coins, strict=True) if not coin)
        guesses = guess_coins(gains, coins, 2 * (len(coins) // 2))
        questions = [
            Question(canary.prefix, canary.secret.strip())
            for canary, coin in zip(self.planted.canaries, coins, strict=True)
            if coin
        ]
        decoding = Decoding(temperature=self.plan.temperature)
        with tokens_only(subject, target, limits=self.limits, decoding=decoding) as outsider:
            extraction = ask_for_secrets(outsider, questions, watch=watch.part(0.7, 1.0))
        return _Result(
            target,
            inside,
            outside,
            summary(inside, rng)[0],
            summary(outside, rng)[0],
            extraction,
            one_run_bound(guesses, DELTA),
            attacker.meaning,
        )

    def conclude(self) -> Outcome:
        """Planted beside not planted for every target, and the verdict."""
        if not self.results:
            return Outcome()
        reads = [
            (r.target, sum(r.extraction.got), len(r.extraction.got), r.extraction.share) for r in self.results
        ]
        sentences = [*verdicts.reads(reads, "planted codes")]
        sentences += verdicts.exposed(
            [(r.target, r.bits_inside, r.inside[0].most, len(r.inside)) for r in self.results]
        )
        bars = []
        for result in self.results:
            for name, bits in (("planted", result.bits_inside), ("not planted", result.bits_outside)):
                bars.append(BarData(name, bits.value, bits.low, bits.high, result.target.words))
        bars.append(BarData("not memorised", BASELINE, group="On average"))
        shares = tuple(BarData(t.words, s.value, s.low, s.high) for t, _, _, s in reads)
        return Outcome(
            pictures=(
                Picture("Planted codes that came when asked for", "share of codes", shares, 1.0),
                Picture(
                    "Exposure of canaries", "bits, on average", tuple(bars), self.results[0].inside[0].most
                ),
                *distribution(
                    [(r.target.words, r.inside) for r in self.results],
                    "Exposure of each planted canary",
                    "canary, the lowest first",
                ),
            ),
            verdict=tuple(sentences),
            notes=(
                "Canaries were planted by coin flips in a copy of the corpus; adapters were trained on that "
                "copy in memory and are gone.",
                f"The audited epsilon is a lower bound at delta {DELTA:g} with 95 % confidence, for the "
                "model whose likelihoods were read, by the one-run audit of Steinke, Nasr and Jagielski.",
                *(r.meaning for r in self.results),
            ),
        )


def _public(subject: Subject) -> Target:
    return target_of(subject.manifest, "public")


def _findings(result: _Result, canaries: int) -> list[Finding]:
    words, share = result.target.words, result.extraction.share
    got = result.extraction.got
    return [
        Finding.of("extraction", words, "planted codes that came", share, unit="share",
                   count=sum(got), total=len(got)),
        Finding.of("exposure", words, "mean exposure of planted canaries", result.bits_inside, unit="bits"),
        Finding.of("exposure", words, "mean exposure of canaries left out", result.bits_outside, unit="bits"),
        Finding("audit", words, "epsilon, at least", result.bound, unit="",
                note=f"one run, {canaries} coins, delta {DELTA:g}"),
        *extrapolated(words, (*result.inside, *result.outside)),
    ]  # fmt: skip
