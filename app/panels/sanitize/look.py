"""Results as HTML: the text with its marks, the facts beside it, and what the slider means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.components.marked import Mark, Stretch, legend_html, marked_html
from app.components.markup import escape
from app.components.phrases import number, short
from app.panels.sanitize.scale import how_often, in_short, in_words
from core.sanitize import AllWords, Mechanism, Piece, Policy, Sanitized
from core.sanitize.facts import left_open
from core.sanitizing import Stays

Neighbours = Mapping[str, Sequence[tuple[str, float]]]

EMPTY = '<p class="marked empty">The rewritten text appears here, with every change marked.</p>'
NOT_YET = '<p class="meaning"><span>Loading the word vectors, a few seconds the first time.</span></p>'
NO_FACTS = '<p class="marked empty">What it is worth appears here: what holds, and what it leaves open.</p>'
AGAIN = "Every run draws anew, and the epsilons of several runs on one text add up."
LEGEND = legend_html(
    {
        "replaced": "sensitive, became another word",
        "kept": "sensitive, came back by chance",
        "oov": "sensitive, outside the vocabulary: a random public word",
    }
)
_STATES = {"replaced": "replaced", "kept": "came back by chance", "oov": "outside the vocabulary"}


@dataclass(frozen=True)
class Column:
    """One result on the page."""

    key: str
    title: str
    result: Sanitized


def results_html(columns: Sequence[Column], neighbours: Neighbours) -> str:
    """The results side by side, each with its text for copying."""
    shown = "".join(
        f'<section class="sanitized" id="sanitized-{column.key}"><h2>{escape(column.title)}</h2>'
        f'<p class="counts">{escape(counts(column.result))}</p>'
        f"{marked_html(stretches(column.result, neighbours), column.title)}"
        f'<pre class="plain" hidden>{escape(column.result.text)}</pre></section>'
        for column in columns
    )
    return f'<div class="sanitized-columns columns-{len(columns)}">{shown}</div>{LEGEND}'


def counts(result: Sanitized) -> str:
    """How many words were perturbed and what became of them, in a line."""
    if not result.perturbed:
        return f"None of {number(result.words, 'word')} is sensitive by this choice: the text is as it was."
    parts = [f"{result.replaced} replaced", f"{result.kept_by_chance} came back by chance"]
    if result.out_of_vocabulary:
        parts.append(f"{result.out_of_vocabulary} outside the vocabulary")
    return f"{result.perturbed} of {number(result.words, 'word')} perturbed: {', '.join(parts)}."


def stretches(result: Sanitized, neighbours: Neighbours) -> list[Stretch]:
    """The output with marks on what was perturbed."""
    return [
        piece.output
        if piece.state == "plain"
        else Mark(piece.output, piece.state, _said(piece, neighbours.get(piece.source, ())))
        for piece in result.pieces
    ]


def _said(piece: Piece, near: Sequence[tuple[str, float]]) -> str:
    parts = [f"{_STATES[piece.state]}, was {short(piece.source)} ({piece.reason})"]
    if piece.state == "replaced" and piece.distance is not None:
        parts.append(f"distance {piece.distance:.2f}")
    if near:
        listed = ", ".join(f"{word} {distance:.2f}" for word, distance in near)
        parts.append(f"nearest to {short(piece.source)}: {listed}")
    return "; ".join(parts)


def facts_html(result: Sanitized, mechanism: Mechanism, policy: Policy, stays: Stays) -> str:
    """What must be known beside a result, in a short card."""
    perturbed = f"{result.perturbed} of {number(result.words, 'word')}"
    if result.out_of_vocabulary:
        perturbed += f", {result.out_of_vocabulary} of them outside the vocabulary, as uniform random draws"
    if result.consistent:
        perturbed += f", with {number(result.draws, 'draw')}: the output shows which words were equal"
    rows = {
        "Epsilon for each word": f"{result.epsilon:g}",
        "Words perturbed": perturbed,
        "A common word stays itself": f"{how_often(stays.words)}; a number {how_often(stays.numbers)}",
        "What holds": mechanism.guarantee,
        "What it leaves open": left_open(policy),
        "Running it again": AGAIN,
    }
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(words)}</dd></div>" for name, words in rows.items()
    )
    which = "every word" if isinstance(policy, AllWords) else "the chosen words"
    return f'<section class="facts"><h2>What this is worth: {which}</h2><dl>{listed}</dl></section>'


def meaning_html(epsilon: float, stays: Stays) -> str:
    """What the slider says."""
    return (
        f'<p class="meaning"><b>epsilon {epsilon:g}</b> <span>{escape(in_short(stays))}</span><br>'
        f"{escape(in_words(stays))}</p>"
    )


def examples_html(examples: Sequence[tuple[str, Sanitized]]) -> str:
    """A public sentence at this epsilon, drawn anew each time."""
    rows = "".join(f"<li><span>{escape(name)}</span> {marked_line(result)}</li>" for name, result in examples)
    return f'<p class="small">At this epsilon a sentence may become</p><ul class="live-examples">{rows}</ul>'


def marked_line(result: Sanitized) -> str:
    """A short result in one line; the marks say nothing more."""
    return "".join(
        escape(piece.output)
        if piece.state == "plain"
        else f'<span class="word {piece.state}">{escape(piece.output)}</span>'
        for piece in result.pieces
    )
