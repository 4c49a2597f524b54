"""Evaluating a detector on held-out families, beside a baseline that looks at format alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.context.card import Bin, Card, FamilyLine, Mistake, Result, Share
from core.context.detector import Detector
from core.context.learning.families import Example, Family, load_families
from core.errors import InputError

BINS = 10
RESAMPLES = 2000
PAPER = "paper: "


def held_out_examples(families: Sequence[Family] | None = None) -> list[Example]:
    """The sentences of the held-out families: one for each written line, so that none counts twice."""
    chosen = families if families is not None else load_families()
    return [example for family in chosen if family.split == "test" for example in family.examples()]


def evaluate(
    detector: Detector, examples: Sequence[Example] | None = None, cross_validated: Result | None = None
) -> Card:
    """The card of a detector on held-out families (the project's own unless others are given)."""
    chosen = list(examples) if examples is not None else held_out_examples()
    if len({example.sensitive for example in chosen}) < 2:
        raise InputError("An evaluation needs sensitive and harmless sentences.")
    scores = detector.score([each.text for each in chosen], [each.before for each in chosen])
    paper = [each.family.startswith(PAPER) for each in chosen]
    flagged = scores >= detector.threshold
    sensitive = np.array([each.sensitive for each in chosen])
    return Card(
        detector=result(detector.name, detector.threshold, chosen, scores),
        baseline=result("Presidio's patterns", 0.5, chosen, format_scores([each.text for each in chosen])),
        paper_canary=share_of(flagged[paper & sensitive]),
        paper_harmless=share_of(flagged[paper & ~sensitive]),
        train_families=sum(family.split == "train" for family in load_families()),
        test_families=len({each.family for each in chosen}),
        cross_validated=cross_validated,
    )


def card_of(detector: Detector) -> Card:
    """The card of a detector: the one that ships where it is the shipped one at its own threshold."""
    from core.context.detector import SHIPPED
    from core.context.saved import CARD

    if detector.name == SHIPPED and CARD.is_file():
        shipped = Card.load(CARD)
        if abs(shipped.detector.threshold - detector.threshold) < 1e-6:
            return shipped
    return evaluate(detector)


def format_scores(texts: Sequence[str]) -> NDArray[np.float64]:
    """1 where Presidio's patterns find anything, whatever the context, and 0 elsewhere."""
    from core.sanitize.patterns import Patterns

    policy = Patterns()
    return np.array([float(bool(policy.spans(text))) for text in texts])


def result(name: str, threshold: float, examples: Sequence[Example], scores: NDArray[np.float64]) -> Result:
    """Recall, false positives, families, calibration and mistakes of scores at a threshold."""
    flagged = scores >= threshold
    sensitive = np.array([each.sensitive for each in examples])
    lines = _families(examples, flagged)
    return Result(
        name=name,
        threshold=threshold,
        recall=share_of(flagged[sensitive]),
        false_positives=share_of(flagged[~sensitive]),
        recall_lower_by_family=_lower_by_family([line for line in lines if line.sensitive]),
        families=lines,
        bins=_bins(scores, sensitive),
        mistakes=tuple(
            Mistake(each.text, each.before, each.family, each.sensitive, round(float(score), 4))
            for each, score, wrong in zip(examples, scores, flagged != sensitive, strict=True)
            if wrong
        ),
    )


def share_of(hits: NDArray[np.bool_]) -> Share:
    """How many are true, with exact limits."""
    from core.attack.intervals import clopper_pearson, lower_limit

    count, trials = int(hits.sum()), len(hits)
    if not trials:
        return Share(0, 0, 0.0, 0.0, 0.0, 1.0)
    interval = clopper_pearson(count, trials)
    return Share(count, trials, count / trials, lower_limit(count, trials, 0.05), interval.low, interval.high)


def _families(examples: Sequence[Example], flagged: NDArray[np.bool_]) -> tuple[FamilyLine, ...]:
    names = list(dict.fromkeys(each.family for each in examples))
    rows = {name: [i for i, each in enumerate(examples) if each.family == name] for name in names}
    return tuple(
        FamilyLine(name, examples[of[0]].sensitive, int(flagged[of].sum()), len(of))
        for name, of in rows.items()
    )


def _lower_by_family(lines: Sequence[FamilyLine]) -> float:
    """The 5 % quantile of recall when families are drawn again with replacement (2,000 times, seed 0)."""
    hits = np.array([line.flagged for line in lines])
    of = np.array([line.of for line in lines])
    drawn = np.random.default_rng(0).integers(len(lines), size=(RESAMPLES, len(lines)))
    return float(np.quantile(hits[drawn].sum(1) / of[drawn].sum(1), 0.05))


def _bins(scores: NDArray[np.float64], sensitive: NDArray[np.bool_]) -> tuple[Bin, ...]:
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    return tuple(
        Bin(
            low=each / BINS,
            high=(each + 1) / BINS,
            of=int((place == each).sum()),
            sensitive=int(sensitive[place == each].sum()),
            mean_score=round(float(scores[place == each].mean()), 4) if (place == each).any() else 0.0,
        )
        for each in range(BINS)
    )
