"""Extraction: ask for a secret in its own words, and see whether it comes.

Two ways. `ask_for_secrets` puts one question for each planted secret. `hit_rate` is Section 4.2 of the SubMix
paper: one prompt, g generations, and the share of them that are one of the secret codes to the last digit.
Both see tokens only, and both stay within the budget that was opened for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.attack import intervals
from core.attack.attackers import TokensOnly
from core.attack.intervals import Interval
from core.attack.watch import SILENT, Watch
from core.errors import InputError


@dataclass(frozen=True)
class Question:
    """What the attacker asks by, and the secret that should not come; `kind` groups secrets in a report."""

    prompt: str
    secret: str
    kind: str = ""


@dataclass(frozen=True)
class Extraction:
    """Which secrets came, in the order asked; `used` queries were paid for."""

    target: str
    got: tuple[bool, ...]
    used: int
    problem: str = ""

    @property
    def share(self) -> Interval:
        """The share of secrets that came."""
        return intervals.share(sum(self.got), len(self.got))


@dataclass(frozen=True)
class HitRate:
    """Of `generations` answers to one prompt, `hits` were a secret code; `seen` different codes came."""

    target: str
    hits: int
    generations: int
    seen: int
    used: int
    within_budget: bool

    @property
    def share(self) -> Interval:
        """The hit rate."""
        return intervals.share(self.hits, self.generations)


def ask_for_secrets(
    attacker: TokensOnly, questions: Sequence[Question], *, watch: Watch = SILENT
) -> Extraction:
    """One answer for each question, as long as its secret is; a hit is an answer that begins with it."""
    if not questions:
        raise InputError("There are no secrets to ask for.")
    got = []
    for number, (piece, question) in enumerate(watch.parts(questions), 1):
        piece.at(0.0, f"{attacker.target.title}: asking for secret {number} of {len(questions)}")
        wanted = question.secret.strip()
        answer = attacker.answer(
            question.prompt,
            length=tokens_in(attacker, question),
            enough=lambda text, wanted=wanted: not _may_become(text, wanted),  # type: ignore[misc]
        )
        got.append(answer.lstrip().startswith(wanted))
    return Extraction(attacker.target.words, tuple(got), attacker.used, attacker.problem)


def hit_rate(
    attacker: TokensOnly,
    prompt: str,
    codes: Sequence[str],
    *,
    generations: int,
    watch: Watch = SILENT,
) -> HitRate:
    """g generations from one prompt, each as long as a code."""
    if generations < 1 or not codes:
        raise InputError("At least one generation and one code are needed.")
    wanted = {code.strip() for code in codes}
    length = max(tokens_in(attacker, Question(prompt, code)) for code in codes)
    hits, seen = 0, set()
    for number, (piece, _) in enumerate(watch.parts(range(generations)), 1):
        piece.at(0.0, f"{attacker.target.words}: answer {number} of {generations}")
        answer = attacker.answer(prompt, length=length).strip()
        matched = next((code for code in wanted if answer.startswith(code)), None)
        if matched is not None:
            hits += 1
            seen.add(matched)
    terms = attacker.target.terms
    within = terms is None or attacker.used <= terms.queries
    return HitRate(attacker.target.words, hits, generations, len(seen), attacker.used, within)


def tokens_in(attacker: TokensOnly, question: Question) -> int:
    """How many tokens the secret has after its prompt."""
    return attacker.count_tokens(question.prompt, " " + question.secret.strip())


def _may_become(answer: str, wanted: str) -> bool:
    """Whether an answer so far can still turn out to begin with the secret."""
    so_far = answer.lstrip()
    return wanted.startswith(so_far) or so_far.startswith(wanted)
