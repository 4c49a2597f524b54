"""Why a sentence has its score, as HTML: the words that matter and the families that it is like."""

from collections.abc import Sequence

from app.components.markup import escape, notice
from core.context.alpha import AlphaContext, Word
from core.context.deciding import Deciding
from core.context.detector import Sentence
from core.context.nearest import NearFamily

PICK = "Click a sentence, or reach it with Tab and the arrow keys and press Enter, to see why."


def why_html(sentence: Sentence, before: str, words: Deciding, near: Sequence[NearFamily]) -> str:
    """The sentence with the words that decide, and the nearest training families."""
    verdict = "flagged" if sentence.flagged else "not flagged"
    behind = f'<p class="small">Read behind: {escape(_short(before))}</p>' if before else ""
    return (
        f'<section class="facts why"><h3>Why {sentence.score:.2f}, {verdict}</h3>'
        f'<p class="marked">{marked_words_html(sentence.text, words.words)}</p>{behind}'
        f'<p class="small">{escape(decided_in_words(sentence, words))}</p>{near_html(near)}</section>'
    )


def marked_words_html(text: str, words: Sequence[Word]) -> str:
    """A text with these words marked."""
    parts, end = [], 0
    for word in words:
        parts.append(escape(text[end : word.start]))
        parts.append(f'<span class="word key">{escape(text[word.start : word.end])}</span>')
        end = word.end
    parts.append(escape(text[end:]))
    return "".join(parts)


def decided_in_words(sentence: Sentence, found: Deciding) -> str:
    """What the marked words do."""
    if not sentence.flagged:
        return "It is not flagged, so that there are no words to blame."
    if not found.words:
        return "No words of its own decide: it is flagged for what stands before it."
    count = "word" if len(found.words) == 1 else f"{len(found.words)} words"
    return (
        f"Without the marked {count} the score is {found.without:.2f} and it would not be flagged. "
        f"{_how_small(found)}"
    )


def near_html(near: Sequence[NearFamily]) -> str:
    """The families of training sentences that lie nearest."""
    if not near:
        return ""
    rows = "".join(
        f"<li><b>{escape(each.family)}</b> ({'sensitive' if each.sensitive else 'harmless'}, "
        f"{each.similarity:.2f}): {escape(each.example)}</li>"
        for each in near
    )
    return (
        '<p class="small">Training families that are nearest in topic, with their likeness and their nearest '
        f'sentence:</p><ul class="said">{rows}</ul>'
    )


def model_context_html(text: str, secret: str, found: AlphaContext) -> str:
    """The alpha-context of the paper: what the language model needs to guess the secret."""
    if not found.leaks:
        return notice(
            f"The language model gives '{secret}' a probability of {_probability(found.full)} here and "
            f"{_probability(found.kept)} with no context at all, so that no words are needed: the context "
            "does not help it."
        )
    marked = marked_words_html(text, found.words)
    return (
        f'<section class="facts why"><h3>What gives "{escape(secret)}" away</h3>'
        f'<p class="marked">{marked}</p>'
        f'<p class="small">After the whole context the language model gives it a probability of '
        f"{_probability(found.full)}; after the marked words alone {_probability(found.kept)}, which is "
        f"within {found.alpha:.0%} of that. {_how_small(found)}</p></section>"
    )


def _how_small(found: AlphaContext | Deciding) -> str:
    if found.exact:
        return f"No smaller set of words does that ({found.tried:,} were tried)."
    return (
        f"Found greedily: at least {found.at_least} are needed, and none of these can be left out "
        f"({found.tried:,} sets were tried)."
    )


def _probability(value: float) -> str:
    return f"{value:.2%}" if value >= 0.0001 else f"{value:.1e}"


def _short(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"...{text[-most:]}"
