"""The membership run: every score on every target, and whether the two sides are alike in the first place."""

import random
from collections.abc import Sequence

import numpy as np

from core.attack.attackers import WithLikelihoods
from core.attack.conduct import Find, Prepared, Step
from core.attack.experiments import verdicts
from core.attack.experiments.pace import timed
from core.attack.kept.runs import BarData, Finding, LineData, Outcome, Picture
from core.attack.membership import LONGEST, TITLES, Membership, membership
from core.attack.targets import Subject, Target
from core.attack.watch import Watch
from core.corpus.documents import Corpus
from core.errors import InputError

_TRIAL = 24  # tokens
SIDE = 60  # texts on each side, unless told otherwise


def one_text_per_user(corpus: Corpus, count: int, seed: int) -> list[str]:
    """Texts of different people, so that they are independent; at most `count`."""
    rng = random.Random(f"texts {seed}")
    users = list(corpus.users)
    rng.shuffle(users)
    return [rng.choice(corpus.by_user[user]).text for user in users[:count]]


def demo_sides(count: int = SIDE, seed: int = 0) -> tuple[list[str], list[str]]:
    """Members: the demonstration corpus. Others: notes by the same program about people who are not in it."""
    from core.corpus.demo import SEED, load_demo
    from core.corpus.documents import Document
    from core.corpus.ward_notes import write_ward_notes

    notes = write_ward_notes(SEED + 1).notes
    others = Corpus("others", tuple(Document(user, text, "", row) for row, (user, text) in enumerate(notes)))
    return one_text_per_user(load_demo(), count, seed), one_text_per_user(others, count, seed)


def prepare_membership(
    subject: Subject,
    targets: Sequence[Target],
    members: Sequence[str],
    others: Sequence[str],
    *,
    seed: int,
) -> Prepared:
    """Five scores on each target. Members and others should be of different people, one text each."""
    if not targets:
        raise InputError("There is no target to read the texts with.")
    overlap = set(members) & set(others)
    if overlap:
        raise InputError(f"{len(overlap)} texts are on both sides; a text is either a member or not.")
    work = _MembershipRun(subject, members, others, seed)
    steps = tuple(Step(work.reading_takes(target), work.reads(target)) for target in targets)
    return Prepared(
        attack="membership",
        subject=subject.name,
        synthetic=subject.manifest.synthetic,
        seed=seed,
        steps=steps,
        conclude=work.conclude,
        settings={"members": str(len(members)), "others": str(len(others))},
    )


class _MembershipRun:
    """What the steps have found so far."""

    def __init__(self, subject: Subject, members: Sequence[str], others: Sequence[str], seed: int) -> None:
        self.subject, self.members, self.others, self.seed = subject, members, others, seed
        self.results: list[tuple[Target, Membership]] = []

    def reading_takes(self, target: Target) -> float:
        """Seconds, by reading the beginning of a text: a protocol's law at every token is part of it."""
        attacker, tokenizer = WithLikelihoods(self.subject, target), self.subject.public.tokenizer
        texts = [*self.members, *self.others]
        encoded = tokenizer(texts, add_special_tokens=False, split_special_tokens=True).input_ids
        tokens = sum(min(len(text), LONGEST) for text in encoded)
        trial = [attacker.separator] * (_TRIAL + 1)
        attacker.read(trial[:2])  # the first pass lays the weights out
        return tokens * timed(lambda: attacker.read(trial)) / _TRIAL

    def reads(self, target: Target) -> Find:
        """The step that reads both sides with one target."""

        def find(watch: Watch) -> list[Finding]:
            self.subject.check()
            attacker = WithLikelihoods(self.subject, target)
            rng = np.random.default_rng(self.seed)
            found = membership(attacker, self.members, self.others, rng, watch=watch)
            self.results.append((target, found))
            return _findings(target, found)

        return find

    def conclude(self) -> Outcome:
        """ROC curves of the best scores, areas of all, and the verdict."""
        if not self.results:
            return Outcome()
        best = [(target, found.best, found.curves[found.best]) for target, found in self.results]
        lines = [LineData(target.words, curve.points) for target, _, curve in best]
        lines.append(LineData("chance", ((0.0, 0.0), (1.0, 1.0)), "dashed"))
        bars = [
            BarData(TITLES[name], curve.area.value, curve.area.low, curve.area.high, target.words)
            for target, found in self.results
            for name, curve in found.curves.items()
        ]
        difference = self.results[0][1].difference
        sentences = verdicts.told_members([(t, TITLES[name], curve.area) for t, name, curve in best])
        if difference.found:
            sentences = (difference.sentence, *sentences)
        curve = best[0][2]
        notes = [difference.sentence] if not difference.found else []
        notes += [
            f"With {curve.others} non-members a false-positive rate of {100.0 * at.rate:g} % cannot be told "
            "from zero; the lower limits at it are 0, and are meant."
            for at in curve.at
            if not at.measurable
        ]
        notes += [WithLikelihoods(self.subject, target).meaning for target, _ in self.results]
        return Outcome(
            pictures=(
                Picture(
                    "Members found, others taken for members", lines=tuple(lines),
                    x="false-positive rate", y="true-positive rate", y_limits=(0.0, 1.0),
                ),
                Picture("Area under the curve; 0.5 is chance", "area", tuple(bars), 1.0),
            ),
            verdict=tuple(sentences),
            notes=tuple(notes),
        )  # fmt: skip


def _findings(target: Target, found: Membership) -> list[Finding]:
    findings = []
    for name, curve in found.curves.items():
        findings.append(Finding.of("membership", target.words, f"area, {TITLES[name]}", curve.area))
        for at in curve.at:
            measure = f"true positives at {100.0 * at.rate:g} % false ones, {TITLES[name]}"
            note = "" if at.measurable else "too few others to measure this rate"
            findings.append(
                Finding.of("membership", target.words, measure, at.found, unit="share", note=note)
            )
    return findings
