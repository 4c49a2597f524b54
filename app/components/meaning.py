"""What a spend means: the same number in several currencies, each with its condition in a line."""

from app.components.markup import escape
from core.privacy.meaning import Meaning


def meaning_html(whole: Meaning, spent: Meaning | None) -> str:
    """A card for the nominal budget and, where that may be seen, for what was spent so far."""
    guesser = f"A guesser among {whole.candidates:,}"
    rows = [
        ("Renyi privacy", _renyi, f"of order {whole.alpha:g}, for the text of any one part"),
        ("As (epsilon, delta)", _delta, f"at delta {whole.delta:g}, by the tight conversion"),
        ("For one user's text", _user, _user_condition(whole)),
        (guesser, _chance, f"{_percent(1 / whole.candidates)} by luck; if all copies lie in one part"),
    ]
    heads = "<th scope=col>in other words</th><th scope=col>whole budget</th>"
    heads += "<th scope=col>paid so far</th>" if spent else ""
    body = "".join(
        f"<tr><th scope=row>{escape(name)}<small>{escape(condition)}</small></th><td>{say(whole)}</td>"
        + (f"<td>{say(spent)}</td>" if spent else "")
        + "</tr>"
        for name, say, condition in rows
    )
    note = (
        "The whole budget is the promise; what was paid so far is a running total of the part that paid most."
        if spent
        else "The whole budget is the promise; what was paid so far is for the curator."
    )
    return f'<table class="meaning"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><p>{note}</p>'


def _renyi(meaning: Meaning) -> str:
    return f"{meaning.epsilon:.4g}"


def _delta(meaning: Meaning) -> str:
    return f"{meaning.dp_epsilon:.4g}"


def _user(meaning: Meaning) -> str:
    return "none" if meaning.user_epsilon is None else f"{meaning.user_epsilon:.4g}"


def _user_condition(meaning: Meaning) -> str:
    if meaning.user_order is None:
        return "no figure at order 2 or below (Theorem C.1); the part's stands"
    return f"of order {meaning.user_order:g} (Theorem C.1), when one user's text changes"


def _chance(meaning: Meaning) -> str:
    return f"at most {_percent(meaning.chance)}"


def _percent(chance: float) -> str:
    return f"{100 * chance:.3g}\N{NO-BREAK SPACE}%"
