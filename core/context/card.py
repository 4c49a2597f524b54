"""The evaluation card: what the detector finds and misses on families that it was never trained on."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError


@dataclass(frozen=True)
class Share:
    """So many of so many, with exact (Clopper-Pearson) limits.

    `lower` is the one-sided 95 % lower limit (gamma_L when this is recall); `low` and `high` are the
    two-sided 95 % interval.
    """

    hits: int
    of: int
    value: float
    lower: float
    low: float
    high: float


@dataclass(frozen=True)
class FamilyLine:
    """How many sentences of one held-out family were flagged."""

    family: str
    sensitive: bool
    flagged: int
    of: int


@dataclass(frozen=True)
class Bin:
    """Sentences whose score lies in [low, high): their mean score and how many of them are sensitive."""

    low: float
    high: float
    of: int
    sensitive: int
    mean_score: float


@dataclass(frozen=True)
class Mistake:
    """A sentence that was judged wrongly."""

    text: str
    before: str
    family: str
    sensitive: bool
    score: float


@dataclass(frozen=True)
class Result:
    """One detector on the held-out families."""

    name: str
    threshold: float
    recall: Share
    false_positives: Share
    recall_lower_by_family: float  # bootstrap over whole families: sentences of one family err together
    families: tuple[FamilyLine, ...]
    bins: tuple[Bin, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Card:
    """The detector beside the format-only baseline, the paper's own sentences, and how it was made."""

    detector: Result
    baseline: Result
    paper_canary: Share
    paper_harmless: Share
    train_families: int
    test_families: int
    cross_validated: Result | None = None

    def to_json(self) -> str:
        """The card as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str) -> "Card":
        """Read what `to_json` wrote."""
        try:
            facts = json.loads(text)
            again = facts.pop("cross_validated")
            return Card(
                detector=read_result(facts.pop("detector")),
                baseline=read_result(facts.pop("baseline")),
                paper_canary=Share(**facts.pop("paper_canary")),
                paper_harmless=Share(**facts.pop("paper_harmless")),
                cross_validated=read_result(again) if again else None,
                **facts,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("This is not an evaluation card.") from error

    @staticmethod
    def load(path: Path) -> "Card":
        """The card in a file."""
        try:
            return Card.from_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"There is no evaluation card at {path}.") from error


def read_result(facts: dict[str, Any]) -> Result:
    """A result as `asdict` gives it."""
    return Result(
        recall=Share(**facts.pop("recall")),
        false_positives=Share(**facts.pop("false_positives")),
        families=tuple(FamilyLine(**each) for each in facts.pop("families")),
        bins=tuple(Bin(**each) for each in facts.pop("bins")),
        mistakes=tuple(Mistake(**each) for each in facts.pop("mistakes")),
        **facts,
    )


def card_sentences(card: Card) -> Iterator[str]:
    """The card in plain words."""
    found, base = card.detector, card.baseline
    yield (
        f"Tested on {card.test_families} families of sentences, trained on {card.train_families} others. "
        f"A sentence is flagged from a score of {found.threshold:.2f}."
    )
    yield (
        f"Of {found.recall.of} sentences that give or ask for a secret it flags {found.recall.hits} "
        f"({found.recall.value:.1%}). With 95 % confidence it finds at least {found.recall.lower:.1%} of "
        f"them (gamma_L), or {found.recall_lower_by_family:.1%} when whole families count as one."
    )
    yield (
        f"Of {found.false_positives.of} harmless sentences it flags {found.false_positives.hits} "
        f"({found.false_positives.value:.1%}, between {found.false_positives.low:.1%} and "
        f"{found.false_positives.high:.1%})."
    )
    yield (
        f"The paper's canary and its variants: {card.paper_canary.hits} of {card.paper_canary.of} flagged. "
        f"The harmless ones beside them: {card.paper_harmless.hits} of {card.paper_harmless.of} flagged."
    )
    yield (
        f"The format-only baseline ({base.name}) flags {base.recall.value:.1%} of the sensitive and "
        f"{base.false_positives.value:.1%} of the harmless sentences."
    )
    if card.cross_validated:
        again = card.cross_validated
        yield (
            f"Cross-validated over training families, flagged from {again.threshold:.2f}: recall "
            f"{again.recall.value:.1%} of {again.recall.of}, "
            f"false positives {again.false_positives.value:.1%} of {again.false_positives.of}."
        )
    yield "A sentence that it misses has no protection from what relies on it."
