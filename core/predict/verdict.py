"""What happened, in plain words: who gave what away, and what it cost."""

from dataclasses import dataclass

from core.corpus.leaks import Leak, whose
from core.corpus.ward_secrets import DemoSecret

_UNSAID = "the budget has stopped, or its ledger cannot be written now"


@dataclass(frozen=True)
class Outcome:
    """A finished comparison. `cost` is what the part that paid most paid; None where that may not be seen.

    `from_public` of the protected answer's tokens came from the public model, for reasons open to everybody.
    """

    tokens: int
    from_public: int
    epsilon: float
    used: int
    queries: int
    cost: float | None
    compared: bool = False
    asked: DemoSecret | None = None
    protected: tuple[Leak, ...] = ()
    unprotected: tuple[Leak, ...] = ()
    public: tuple[Leak, ...] = ()
    problem: str = ""
    accounted: bool = True


def verdict_text(outcome: Outcome) -> str:
    """The verdict."""
    return " ".join(filter(None, (_leaks(outcome), _price(outcome), _guessable(outcome))))


def _leaks(outcome: Outcome) -> str:
    """Who gave a planted secret away; empty where there was nothing to compare."""
    if not outcome.compared:
        return ""
    told, kept = outcome.unprotected, {leak.secret for leak in outcome.protected}
    if told and not kept:
        return f"The unprotected model gave away {_named(told)}. The protected one did not."
    if told and kept & {leak.secret for leak in told}:
        return f"Both models gave away {_named(outcome.protected)}. A budget makes that rare, not impossible."
    if kept:
        whom = "The protected model" if not told else f"Besides {_named(told)}, the protected model"
        return f"{whom} gave away {_named(outcome.protected)}. A budget makes that rare, not impossible."
    if outcome.asked:
        wanted = f"{whose(outcome.asked)}'s {outcome.asked.kind}"
        return f"This time no model gave away {wanted}. Answers are drawn at random; another may."
    return "No planted secret was given away."


def _price(outcome: Outcome) -> str:
    if not outcome.accounted:
        return "This baseline protects nothing and keeps no account."
    why = "the budget is used up" if outcome.used >= outcome.queries else _UNSAID
    why = outcome.problem.rstrip(".") or why
    if outcome.tokens and outcome.from_public == outcome.tokens:
        return f"The protected answer came from the public model and cost nothing. Why: {why}."
    words = "1 token" if outcome.tokens == 1 else f"{outcome.tokens} tokens"
    if outcome.cost is None:
        counted = f"{outcome.used:,} of {outcome.queries:,} queries are used"
        price = f"{words} were drawn; {counted}. What it cost is for the curator."
    else:
        price = f"{words} cost at most {outcome.cost:.4f} of any part's {outcome.epsilon:g}."
    if outcome.from_public:
        rest = "The last token came" if outcome.from_public == 1 else f"The last {outcome.from_public} came"
        price += f" {rest} from the public model. Why: {why}."
    return price


def _guessable(outcome: Outcome) -> str:
    theirs = {leak.secret for leak in outcome.public}
    if theirs & {leak.secret for leak in (*outcome.protected, *outcome.unprotected)}:
        return "The public model, which never saw the notes, said it too: it can be guessed."
    return ""


def _named(leaks: tuple[Leak, ...]) -> str:
    first = f"{leaks[0].name}'s {leaks[0].kind}, {leaks[0].secret}"
    more = len(leaks) - 1
    return first if not more else f"{first}, and {more} more"
