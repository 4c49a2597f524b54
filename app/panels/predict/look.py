"""What the page says of a corpus before anything is asked: meter, price, meaning, and who sees what."""

from typing import NamedTuple

from app.components.markup import escape, notice
from app.components.meaning import meaning_html
from app.components.meter import Reading, bars_html, burn_down_svg, meter_html
from app.components.ribbon import legend_html
from app.panels.predict.answers import PUBLIC, UNPROTECTED, answers_html, protected_column
from app.panels.predict.view import View

PURPOSE = "Continues your prompt with models that learned from private text."
NOBODY = (
    "Nobody in this corpus exists, so everything is shown to everyone: costs, weights and the model that "
    "protects nothing. On a private corpus these are for the curator."
)
VISITOR = (
    "This corpus is private. What leaves is one sampled token at a time; you see the nominal budget and the "
    "public count of queries. Costs and what is left are for the curator."
)
CURATOR = "You are the curator, so the meter is exact. Visitors see the nominal budget and the public count."
NO_CORPUS_LINE = "The public model never saw anybody's private text, so its answers spend no budget."

_SPREAD = {
    "even": "the same allowance for every token",
    "rolling": "what is left spread evenly over the tokens to come",
    "banked": "what cheap tokens save banked for the ones that need it",
}


class Look(NamedTuple):
    """The pieces that follow from the corpus and from who is looking."""

    why: str
    meter: str
    legend: str
    details: str
    meaning: str
    quote: str
    in_force: str


def look_at(view: View | None, length: int, candidates: int) -> Look:
    """All pieces; None is the public model alone, which has no budget to show."""
    if view is None:
        return Look(_why(NO_CORPUS_LINE), "", "", "", "", quote_line(None, length), "")
    return Look(
        why=notice(view.problem, kind="problem") if view.problem else _why(_who_sees(view)),
        meter=meter_html(view.reading),
        legend=legend_html(view.even_pace) if view.exact else "",
        details=details_html(view.reading),
        meaning=meaning_card(view, candidates),
        quote=quote_line(view, length),
        in_force=_in_force(view),
    )


def details_html(reading: Reading) -> str:
    """Burn-down and parts, for those who may see them."""
    if not reading.exact:
        return ""
    return (
        f'<div class="details"><section><h2>Burn-down</h2>{burn_down_svg(reading)}</section>'
        f"<section><h2>Left of each part</h2>{bars_html(reading)}</section></div>"
    )


def meaning_card(view: View, candidates: int) -> str:
    """What the budget means, and what was paid so far where that may be seen."""
    return f"<h2>What a spend means</h2>{meaning_html(*view.meaning(candidates))}"


def quote_line(view: View | None, length: int) -> str:
    """The price before sending: the worst case for these settings."""
    if view is None:
        return "This costs nothing."
    state = view.reading.state
    if state == "No protection":
        return "No protection, so no price."
    if state == "Public model only":
        again = " A fresh budget is below, at Protocol and budget." if view.synthetic else ""
        return f"This costs nothing: the public model answers.{again}"
    words = "1 token costs" if length == 1 else f"{length:,} tokens cost"
    return f"{words} any part at most {view.quote(length):.4f} of {view.state.epsilon:g}."


def empty_answers(view: View | None) -> str:
    """The columns before the first answer."""
    if view is None:
        return answers_html("", [PUBLIC])
    first = protected_column(view.state.protocol)
    return answers_html("", [first, UNPROTECTED, PUBLIC] if view.synthetic else [first, PUBLIC])


def _who_sees(view: View) -> str:
    if view.synthetic:
        return NOBODY
    return CURATOR if view.exact else VISITOR


def _in_force(view: View) -> str:
    state = view.state
    terms = (
        f"In force: {state.protocol}, epsilon {state.epsilon:g} at Renyi order {state.alpha:g}, planned for "
        f"{state.queries:,} queries over {state.parts} parts"
    )
    if state.protocol == "strict":
        terms += f", largest weight {state.w_max:g}, {_SPREAD.get(state.allowance, state.allowance)}"
    fixed = (
        "Fixed since the budget was opened. Nobody is in this corpus, so it may be started over."
        if view.synthetic
        else "Fixed since the budget was opened: what was released about a private corpus stays released."
    )
    return _lead(f"{terms}. {fixed}")


def _why(words: str) -> str:
    return f'<p class="lead"><b>{PURPOSE}</b> {escape(words)}</p>'


def _lead(text: str) -> str:
    return f'<p class="lead">{escape(text)}</p>'
