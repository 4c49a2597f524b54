"""What is asked for: one attack by names and numbers, with a sentence for each that cannot be."""

from dataclasses import dataclass

from core.attack.menu import ATTACKS, Attack
from core.errors import InputError

LONGEST_TEXT = 20_000
LEAST_EPSILON, MOST_EPSILON = 0.01, 10_000


@dataclass(frozen=True)
class Asked:
    """What is asked for. Text is used by some attacks: secrets, texts of both sides, a text to sanitise."""

    attack: str = "secrets"
    subject: str = ""
    targets: tuple[str, ...] = ()
    amount: int | None = None
    epsilon: float | None = None
    seed: int = 0
    template: str = ""
    copies: int = 8
    spread: bool = False
    text: str = ""
    others: str = ""

    def __post_init__(self) -> None:
        if self.attack not in ATTACKS:
            raise InputError(f"An attack is one of {', '.join(ATTACKS)} (it is {self.attack[:40]!r}).")
        offer = ATTACKS[self.attack]
        if self.amount is not None and not offer.least <= self.amount <= offer.most:
            raise InputError(f"{offer.amount}: between {offer.least:,} and {offer.most:,}.")
        if self.epsilon is not None and not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise InputError(f"Epsilon must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:,}.")
        if not 0 <= self.seed < 2**31:
            raise InputError("The seed of an experiment is a whole number from 0 on.")
        if max(len(self.text), len(self.others)) > LONGEST_TEXT or len(self.template) > 400:
            raise InputError(f"A text has at most {LONGEST_TEXT:,} characters, a canary's format 400.")
        if not 1 <= self.copies <= 200:
            raise InputError("A canary has between 1 and 200 copies.")

    @property
    def offer(self) -> Attack:
        """The attack as it is offered."""
        return ATTACKS[self.attack]

    @property
    def many(self) -> int:
        """The amount, or the usual one."""
        return self.offer.usual if self.amount is None else self.amount
