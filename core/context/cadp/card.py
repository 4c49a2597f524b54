"""The card beside a trained model: what is guaranteed, for which sequences, and what is not."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from core.attack.intervals import lower_limit
from core.context.cadp.flags import Mechanism
from core.errors import InputError

if TYPE_CHECKING:
    from core.context.card import Card

Model = Literal["adapters", "lstm"]
_ERROR = 0.05  # of the one-sided bound on recall
# From here on a guarantee says nothing that anyone could use.
_MEANINGLESS = 50.0
_NAMES: dict[Mechanism, str] = {
    "cadp": "CADP",
    "s-dpsgd": "S-DPSGD",
    "dp-sgd": "DP-SGD",
    "none": "no privacy",
}


def group_guarantee(epsilon: float, delta: float, copies: int) -> tuple[float, float]:
    """(epsilon, delta) for what stands in k = `copies` sequences.

    k epsilon, and delta (e^(k epsilon) - 1) / (e^epsilon - 1): from one world to the other in k steps.
    """
    if copies <= 1 or epsilon <= 0.0 or math.isinf(epsilon):
        return epsilon, delta
    total = copies * epsilon
    if total > 700.0:
        return total, 1.0
    return total, min(1.0, delta * math.expm1(total) / math.expm1(epsilon))


@dataclass(frozen=True)
class Recall:
    """How many sensitive sentences of held-out families the detector found.

    `by_family` is a 95 % lower bound that counts whole families, whose sentences err together.
    """

    found: int
    of: int
    by_family: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.found <= self.of or self.of < 1:
            raise InputError("A recall is so many found out of at least one.")

    @property
    def lower_bound(self) -> float:
        """gamma_L: the one-sided 95 % Clopper-Pearson bound. 299 of 299 gives 0.9900."""
        return lower_limit(self.found, self.of, _ERROR)

    @staticmethod
    def of_card(card: "Card") -> "Recall":
        """From the detector's own evaluation card."""
        found = card.detector
        return Recall(found.recall.hits, found.recall.of, found.recall_lower_by_family)


@dataclass(frozen=True)
class CadpCard:
    """What there is to know about the privacy of one trained model. `epsilon` is infinite without noise."""

    mechanism: Mechanism
    model: Model
    flags: str
    epsilon: float
    delta: float
    noise: float
    clip: float
    rate: float
    steps: int
    sequences: int
    flagged: int
    merged: int
    length: int
    optimizer: str
    secure: bool
    recall: Recall | None = None

    @property
    def title(self) -> str:
        """The mechanism and what it guarantees, in a few words."""
        name = _NAMES[self.mechanism]
        return f"{name}, epsilon {_shown(self.epsilon)}" if self.guaranteed else name

    @property
    def guaranteed(self) -> bool:
        """Whether anything at all is guaranteed."""
        return self.mechanism != "none" and self.secure and self.epsilon < _MEANINGLESS

    def sentences(self) -> list[str]:
        """The card in plain words, the guarantee first."""
        return [*self._guarantee(), *self._gaps(), *self._terms()]

    def _guarantee(self) -> list[str]:
        if self.mechanism == "none":
            return ["Nothing is guaranteed: the model was trained without privacy and may recite its text."]
        if not self.secure:
            return ["Nothing is guaranteed: sampling and noise came from a fixed seed, as in an experiment."]
        if not self.guaranteed:
            return [f"Nothing is guaranteed that anyone could use: epsilon is {_shown(self.epsilon)}."]
        twice, _ = group_guarantee(self.epsilon, self.delta, 2)
        return [
            f"Each flagged sequence is protected by ({_shown(self.epsilon)}, {self.delta:g})-differential "
            f"privacy, over {_steps(self.steps)}; {self.flagged:,} of {self.sequences:,} are flagged.",
            f"The unit is one sequence of at most {self.length} tokens, not a person: what stands in two "
            f"sequences is covered by epsilon {_shown(twice)}, and so on."
            + (f" Flagged copies, word for word, were joined ({self.merged:,})." if self.merged else ""),
        ]

    def _gaps(self) -> list[str]:
        if not self.guaranteed or self.mechanism == "dp-sgd":
            return []
        return [
            self._missed(),
            f"The other {self.sequences - self.flagged:,} sequences were learned from without privacy, and "
            "the model may recite them.",
            "Private and plain updates change the same weights. That costs the flagged sequences nothing: "
            "what they add comes in through noisy sums alone. But what an unflagged sequence says about a "
            "flagged one, by repeating it or by letting it be guessed, is learned without protection.",
        ]

    def _missed(self) -> str:
        """What the detector's misses mean; never part of delta, whatever Theorem 1 of the paper says."""
        without = "A sensitive sequence that is missed has no guarantee at all."
        if self.mechanism == "s-dpsgd":
            return f"Flags go by format ({self.flags}), so secrets of other formats are missed. {without}"
        if self.recall is None:
            return f"How many sensitive sequences the detector misses was not measured. {without}"
        bound, by_family = self.recall.lower_bound, self.recall.by_family
        families = "" if by_family is None else f" ({1.0 - by_family:.2%} when whole families count as one)"
        return (
            f"The detector found {self.recall.found:,} of {self.recall.of:,} sensitive sentences of families "
            f"that it had not seen: with 95 % confidence at most {1.0 - bound:.2%} of such sentences are "
            f"unprotected{families}. {without}"
        )

    def _terms(self) -> list[str]:
        if not self.guaranteed:
            return []
        lines = [
            "The number of sequences, the number of flagged ones and the settings count as public. A flag "
            "must depend on its sequence alone: a detector that was taught on this corpus breaks that.",
            "Every further model trained on the same text adds its own epsilon.",
            f"Poisson sampling at rate {self.rate:.3g}, clipping at {self.clip:g}, noise multiplier "
            f"{self.noise:.3g}, {self.optimizer}; accounted by Renyi divergences, empty batches included. "
            "Noise is made of the operating system's randomness; attacks on rounding are not covered.",
        ]
        if self.flagged and self.delta >= 1.0 / self.flagged:
            below = 1.0 / self.flagged
            lines.insert(0, f"Delta should be below 1 over the number of flagged sequences ({below:.2g}).")
        return lines

    def values(self) -> dict[str, Any]:
        """For JSON, where an infinite epsilon is null."""
        return asdict(self) | {"epsilon": None if math.isinf(self.epsilon) else self.epsilon}

    @staticmethod
    def of(values: Mapping[str, Any]) -> "CadpCard":
        """From what `values` gave."""
        epsilon = values["epsilon"]
        recall = values["recall"]
        return CadpCard(
            **{
                **values,
                "epsilon": math.inf if epsilon is None else epsilon,
                "recall": Recall(**recall) if recall else None,
            }
        )


def _shown(epsilon: float) -> str:
    return "infinite" if math.isinf(epsilon) else f"{epsilon:,.3g}"


def _steps(count: int) -> str:
    return "its one step" if count == 1 else f"all {count:,} steps"
