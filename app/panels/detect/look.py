"""What was found as HTML: marked sentences, the summary, the plot along the text, exports."""

from app.components.fitted import Size, fitted
from app.components.markup import escape, notice
from core.charts import Axis, Line, line_chart
from core.context.asked import Found, shown_share
from core.context.detector import Sentence
from core.context.export import export

EMPTY = '<p class="marked empty">The text appears here, each sentence marked by its score.</p>'
_PLOTTED = 400  # points at most; of more sentences the highest of each stretch is drawn


def level(score: float, threshold: float) -> str:
    """The look of a score, on a scale that the threshold fixes."""
    if score >= threshold:
        return "high" if score >= (1.0 + threshold) / 2 else "flagged"
    return "near" if score >= threshold / 2 else "low"


def legend_html(threshold: float) -> str:
    """The looks in words and numbers."""
    entries = {
        "high": f"flagged, {(1.0 + threshold) / 2:.2f} or more",
        "flagged": f"flagged, from {threshold:.2f} on",
        "near": f"not flagged, from {threshold / 2:.2f} on",
        "low": "not flagged, less",
    }
    shown = "".join(
        f'<span><i class="word score-{look}" aria-hidden="true">sentence</i>{words}</span>'
        for look, words in entries.items()
    )
    return f'<p class="marked-legend">{shown}</p>'


def marked_text_html(found: Found) -> str:
    """The text as it was, every sentence a button that asks why."""
    parts, end = [], 0
    for place, sentence in enumerate(found.sentences):
        parts.append(escape(found.text[end : sentence.start]))
        parts.append(_sentence_html(place, sentence, found.detector.threshold))
        end = sentence.end
    parts.append(escape(found.text[end:]))
    label = "The text by sentences; arrow keys move along them, Enter asks why"
    return (
        f'<div class="marked sentences" role="group" tabindex="0" aria-label="{label}">{"".join(parts)}</div>'
        f"{legend_html(found.detector.threshold)}"
    )


def _sentence_html(place: int, sentence: Sentence, threshold: float) -> str:
    said = f"score {sentence.score:.2f}, {'flagged' if sentence.flagged else 'not flagged'}"
    return (
        f'<span class="word score-{level(sentence.score, threshold)}" role="button" tabindex="-1" '
        f'data-place="{place}" data-score="{sentence.score:.2f}" title="{said}" '
        f'aria-label="{escape(sentence.text)} ({said})">{escape(sentence.text)}</span>'
    )


def summary_html(found: Found) -> str:
    """The verdict in a sentence, and the counts."""
    sentences, threshold = found.sentences, found.detector.threshold
    characters = sum(each.end - each.start for each in sentences if each.flagged)
    whole = sum(each.end - each.start for each in sentences)
    highest = max((each.score for each in sentences), default=0.0)
    if found.flagged:
        verdict = notice(
            f"{shown_share(found.flagged, sentences)} give or ask for a secret, by their context. "
            "Click one to see why.",
            kind="problem",
        ).replace('role="alert"', 'role="status"')
    else:
        verdict = notice(
            f"No sentence of {len(sentences):,} reaches the threshold of {threshold:.2f}. That is no proof "
            "that there is no secret: see the card for how often it misses one.",
            kind="done",
        )
    tiles = {
        "sentences": f"{len(sentences):,}",
        "flagged": f"{found.flagged:,}",
        "of the text, flagged": f"{characters / max(1, whole):.0%}",
        "highest score": f"{highest:.2f}",
    }
    shown = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles.items())
    return f'{verdict}<dl class="tiles">{shown}</dl>'


def plot_html(found: Found) -> str:
    """The scores along the text, with the threshold."""
    if not found.sentences:
        return ""
    size = -(-len(found.sentences) // _PLOTTED)
    points = []
    for start in range(0, len(found.sentences), size):
        best = max(range(start, min(start + size, len(found.sentences))), key=lambda i: _score(found, i))
        points.append((float(best + 1), _score(found, best)))
    last = float(max(2, len(found.sentences)))
    edge = [(1.0, found.detector.threshold), (last, found.detector.threshold)]
    lines = [
        Line("score", points, "dots" if len(points) < 60 else "solid"),
        Line(f"threshold {found.detector.threshold:.2f}", edge, "dashed"),
    ]
    x, y = Axis("sentence", low=1.0, high=last), Axis("score", low=0.0, high=1.0)

    def draw(picture: Size) -> str:
        return line_chart(lines, title="Scores along the text", x=x, y=y, size=picture)

    return f'<div class="curves">{fitted(draw, (1116, 240), (340, 240))}</div>'


def exports_html(found: Found) -> str:
    """What the export buttons download: it is made here and saved in the browser, the server keeps none."""
    lines = {"csv": export(found.sentences, "csv"), "jsonl": export(found.sentences, "jsonl")}
    return "".join(
        f'<pre class="export" data-form="{form}" hidden>{escape("".join(rows))}</pre>'
        for form, rows in lines.items()
    )


def _score(found: Found, place: int) -> float:
    return found.sentences[place].score
