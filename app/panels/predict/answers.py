"""The answers side by side, as HTML: what each column is, and secrets underlined where they were planted."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.components.markup import escape
from core.corpus.leaks import Leak


@dataclass(frozen=True)
class Column:
    """One answer. From `public_from` on, the text comes from the public model instead of the parts."""

    key: str
    title: str
    note: str
    tag: str = ""
    text: str = ""
    leaks: tuple[Leak, ...] = ()
    public_from: int | None = None


UNPROTECTED = Column(
    "unprotected",
    "Unprotected",
    "Fine-tuned on everything, as people do today.",
    tag="synthetic corpora only",
)
EMPTY = '<span class="empty">Its answer appears here.</span>'
PUBLIC = Column("public", "Public", "Never saw the text; spends nothing.")


def protected_column(protocol: str) -> Column:
    """The column that the budget pays for; a baseline that protects nothing is not called protected."""
    if protocol == "ensemble":
        return Column("plain", "Mean of the parts", "A baseline that protects nothing.")
    return Column("protected", "Protected", "Sampled from all parts, within the budget.")


def answers_html(prompt: str, columns: Sequence[Column]) -> str:
    """All columns beside each other; on a phone below each other."""
    return f'<div class="answers columns-{len(columns)}">{"".join(_column(prompt, c) for c in columns)}</div>'


def _column(prompt: str, column: Column) -> str:
    tag = f"<small>{escape(column.tag)}</small>" if column.tag else ""
    return (
        f'<section class="answer {column.key}" aria-label="{escape(column.title)} answer">'
        f'<h2 class="answer-title">{escape(column.title)}{tag}</h2>'
        f'<p class="answer-note">{escape(column.note)}</p>'
        f'<p class="answer-text"><span class="prompt">{escape(prompt)}</span>'
        f'<span class="made">{_made(column)}</span>{"" if prompt else EMPTY}</p></section>'
    )


def _made(column: Column) -> str:
    """The text, cut where a secret or the public model begins or ends."""
    cuts = {0, len(column.text)}
    if column.public_from is not None:
        cuts.add(column.public_from)
    for leak in column.leaks:
        cuts |= {leak.start, leak.end}
    return "".join(_piece(column, start, end) for start, end in pairwise(sorted(cuts)))


def _piece(column: Column, start: int, end: int) -> str:
    piece = escape(column.text[start:end])
    if any(leak.start <= start and end <= leak.end for leak in column.leaks):
        return f'<mark class="secret" title="A planted secret">{piece}</mark>'
    if column.public_from is not None and start >= column.public_from:
        return f'<span class="from-public" title="From the public model">{piece}</span>'
    return piece
