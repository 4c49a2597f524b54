"""The default run: ask every target for secrets that are known to be in the corpus, and rank them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.attack.attackers import WithLikelihoods, tokens_only
from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments import verdicts
from core.attack.experiments.distribution import distribution, extrapolated
from core.attack.experiments.pace import Pace, paces_of
from core.attack.extraction import Extraction, Question, ask_for_secrets
from core.attack.intervals import Interval
from core.attack.kept.runs import BarData, Finding, Outcome, Picture
from core.attack.ranking.exposure import BASELINE, SMALL, Effort, Exposure, exposure, summary
from core.attack.ranking.spelling import spell
from core.attack.targets import PUBLIC, Subject, Target
from core.attack.watch import Watch
from core.corpus.canaries import CanaryFormat
from core.errors import InputError
from core.predict import Decoding
from core.settings import Settings

_READS = 150  # model tokens that ranking one secret takes at a small effort, about


@dataclass(frozen=True)
class SecretsPlan:
    """How secrets are asked for. Answers are drawn at this temperature, which an attacker may choose."""

    temperature: float = 0.5
    ranked: int = 6  # secrets of digits whose exposure is measured, with likelihoods
    effort: Effort = SMALL


def demo_questions() -> tuple[Question, ...]:
    """The secrets that are planted in the demonstration corpus."""
    from core.corpus.demo import demo_secrets

    return tuple(Question(secret.prompt, secret.secret, secret.kind) for secret in demo_secrets())


def prepare_secrets(
    subject: Subject,
    targets: Sequence[Target],
    questions: Sequence[Question],
    *,
    limits: Settings,
    seed: int,
    plan: SecretsPlan | None = None,
) -> Prepared:
    """Extraction on every target by tokens alone, then the exposure of some secrets by likelihoods."""
    plan = plan or SecretsPlan()
    if not questions or not targets:
        raise InputError("There must be a secret to ask for and a target to ask.")
    work = _SecretsRun(subject, questions, plan, limits, seed)
    paces = paces_of(subject, targets)
    steps = [Step(work.asking_takes(target, paces[target]), work.asks(target)) for target in targets]
    if work.ranked:
        steps += [
            Step(len(work.ranked) * _READS * paces[target].batched, work.ranks(target)) for target in targets
        ]
    return Prepared(
        attack="secrets",
        subject=subject.name,
        synthetic=subject.manifest.synthetic,
        seed=seed,
        steps=tuple(steps),
        conclude=work.conclude,
        settings={
            "targets": ", ".join(target.words for target in targets),
            "secrets asked for": str(len(questions)),
            "secrets ranked": str(len(work.ranked)),
            "temperature": f"{plan.temperature:g}",
        },
    )


class _SecretsRun:
    """What the steps have found so far."""

    def __init__(
        self, subject: Subject, questions: Sequence[Question], plan: SecretsPlan, limits: Settings, seed: int
    ) -> None:
        self.subject, self.questions, self.plan, self.limits, self.seed = (
            subject,
            questions,
            plan,
            limits,
            seed,
        )
        digits = [
            question for question in questions if question.secret.isascii() and question.secret.isdigit()
        ]
        digits = [question for question in digits if not {"{", "}"} & set(question.prompt)]
        rng = random.Random(seed)
        self.ranked = rng.sample(digits, min(plan.ranked, len(digits)))
        self.extractions: list[tuple[Target, Extraction]] = []
        self.exposures: list[tuple[Target, list[Exposure], Interval]] = []

    def asking_takes(self, target: Target, pace: Pace) -> float:
        """Seconds, about: the public model is cut short, the others answer in full."""
        share = 0.3 if target.kind in (PUBLIC, "ensemble") else 1.0
        return pace.answers(len(self.questions), 12.0, 8.0 * share)

    def asks(self, target: Target) -> Find:
        """The step that asks one target for every secret."""

        def find(watch: Watch) -> list[Finding]:
            self.subject.check()
            decoding = Decoding(temperature=self.plan.temperature)
            with tokens_only(self.subject, target, limits=self.limits, decoding=decoding) as attacker:
                found = ask_for_secrets(attacker, self.questions, watch=watch)
            self.extractions.append((target, found))
            note = f"{found.used} queries paid for" if target.protected else ""
            return [
                Finding.of(
                    "extraction", target.words, "secrets that came", found.share,
                    unit="share", count=sum(found.got), total=len(found.got), note=found.problem or note,
                )
            ]  # fmt: skip

        return find

    def ranks(self, target: Target) -> Find:
        """The step that ranks some secrets of digits among all others of their length."""

        def find(watch: Watch) -> list[Finding]:
            self.subject.check()
            rng = np.random.default_rng(self.seed)
            attacker = WithLikelihoods(self.subject, target)
            found = []
            for number, (piece, question) in enumerate(watch.parts(self.ranked), 1):
                form = CanaryFormat(f"{question.prompt} {{digits:{len(question.secret)}}}")
                spelling = spell(self.subject.public.tokenizer, form)
                canary = spelling.tokens(int(question.secret))
                said = piece.about(f"{target.title}, secret {number} of {len(self.ranked)}")
                found.append(
                    exposure(
                        attacker.reader(), spelling, canary, rng=rng, effort=self.plan.effort, watch=said
                    )
                )
            bits, first = summary(found, rng)
            self.exposures.append((target, found, bits))
            ways = ", ".join(sorted({each.method for each in found}))
            return [
                Finding.of("exposure", target.words, "mean exposure", bits, unit="bits", note=f"by {ways}"),
                Finding.of(
                    "exposure", target.words, "likeliest of all candidates", first, unit="share",
                    count=sum(each.rank == 1 for each in found), total=len(found),
                ),
                *extrapolated(target.words, found),
            ]  # fmt: skip

        return find

    def conclude(self) -> Outcome:
        """Bars for both attacks, and the verdict."""
        pictures: list[Picture] = []
        sentences: list[str] = []
        notes: list[str] = []
        if self.extractions:
            reads = [(target, sum(f.got), len(f.got), f.share) for target, f in self.extractions]
            sentences += verdicts.reads(reads, "secrets")
            bars = [BarData(t.words, s.value, s.low, s.high) for t, _, _, s in reads]
            pictures.append(Picture("Secrets that came when asked for", "share of secrets", tuple(bars), 1.0))
            notes.append(
                "Extraction sees sampled tokens only. A protected target answered from a budget that was "
                "opened for the attack on the same terms; the corpus' own ledger was not touched."
            )
        if self.exposures:
            rows = [(t, bits, max(e.most for e in found), len(found)) for t, found, bits in self.exposures]
            sentences += verdicts.exposed(rows)
            bars = [BarData(t.words, b.value, b.low, b.high) for t, b, _, _ in rows]
            bars.append(BarData("not memorised", BASELINE))
            most = max(row[2] for row in rows)
            pictures.append(Picture("Exposure of secrets of digits", "bits, on average", tuple(bars), most))
            each = [(target.words, found) for target, found, _ in self.exposures]
            pictures += distribution(each, "Exposure of each secret", "secret, the lowest first")
            notes += [WithLikelihoods(self.subject, target).meaning for target, _, _ in self.exposures]
        return Outcome(pictures=tuple(pictures), verdict=tuple(sentences), notes=tuple(notes))
