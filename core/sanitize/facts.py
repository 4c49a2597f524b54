"""What must be said beside every result: what was done, what holds, and what it leaves open."""

from typing import Protocol

from core.sanitize.mechanism import Mechanism
from core.sanitize.policy import AllWords, Policy


class Counts(Protocol):
    """The counts of a sanitised text or file: `Sanitized` and `FileReport` have them."""

    @property
    def words(self) -> int:
        """All words."""

    @property
    def perturbed(self) -> int:
        """Words, and whole spans, that were perturbed."""

    @property
    def kept_by_chance(self) -> int:
        """Those that came back as themselves."""

    @property
    def out_of_vocabulary(self) -> int:
        """Those outside the vocabulary."""

    @property
    def draws(self) -> int:
        """Independent draws."""


def facts(
    counts: Counts, mechanism: Mechanism, policy: Policy, *, consistent: bool = False
) -> tuple[str, ...]:
    """The facts as sentences, in the order in which they are read."""
    known = counts.perturbed - counts.out_of_vocabulary
    kept = f" ({counts.kept_by_chance / known:.0%})" if known else ""
    sentences = [
        f"Perturbed: {counts.perturbed:,} of {counts.words:,} words, epsilon {mechanism.epsilon:g} each.",
        f"Came back as themselves by chance: {counts.kept_by_chance:,} of {known:,} in the vocabulary{kept}. "
        f"Outside the vocabulary, and replaced by uniform draws (numbers by numbers): "
        f"{counts.out_of_vocabulary:,}.",
        mechanism.guarantee,
        left_open(policy),
        "Every run draws anew, and the epsilons of several runs on one text add up.",
    ]
    if consistent:
        sentences.append(
            f"Equal words share one draw ({counts.draws:,} in all): the output shows which words were equal."
        )
    return tuple(sentences)


def left_open(policy: Policy) -> str:
    """What the guarantee does not cover."""
    if isinstance(policy, AllWords):
        return "It does not hide how many words there are, their order, punctuation or layout."
    return (
        "It does not hide which words were perturbed, nor anything that the policy did not call sensitive: "
        "those words are as they were."
    )
