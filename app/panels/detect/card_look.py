"""The evaluation card as HTML: figures, calibration, families and mistakes."""

from collections.abc import Sequence

from app.components.fitted import Size, fitted
from app.components.markup import escape, notice, table
from core.charts import Axis, Line, line_chart
from core.context.card import Bin, Card, Result, Share, card_sentences

_MISTAKES = 12
NO_CARD = "The card of this detector has not been made yet: run `python -m core detector evaluate`."


def card_html(card: Card | None) -> str:
    """The whole card."""
    if card is None:
        return notice(NO_CARD)
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in card_sentences(card))
    return (
        f"{tiles_html(card)}"
        f'<ul class="said">{lines}</ul>{calibration_html(card.detector.bins)}'
        f"{families_html(card.detector)}{mistakes_html(card.detector)}"
    )


def tiles_html(card: Card) -> str:
    """The four figures that matter."""
    tiles = {
        "recall on held-out families": _percent(card.detector.recall),
        "at least (gamma_L)": f"{card.detector.recall.lower:.1%}",
        "false positives": _percent(card.detector.false_positives),
        "by format alone: recall": _percent(card.baseline.recall),
    }
    shown = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles.items())
    return f'<dl class="tiles">{shown}</dl>'


def calibration_html(bins: Sequence[Bin]) -> str:
    """How often sentences of a score are sensitive, beside how often they would be if scores were chances."""
    points = [(each.mean_score, each.sensitive / each.of) for each in bins if each.of]
    if not points:
        return ""
    lines = [Line("measured", points), Line("scores as chances", [(0.0, 0.0), (1.0, 1.0)], "dashed")]
    x, y = Axis("mean score", low=0.0, high=1.0), Axis("share sensitive", low=0.0, high=1.0)

    def draw(picture: Size) -> str:
        return line_chart(lines, title="Calibration on held-out families", x=x, y=y, size=picture)

    return f'<div class="curves">{fitted(draw, (760, 300), (320, 260))}</div>'


def families_html(result: Result) -> str:
    """Every held-out family; those with most mistakes first."""

    def wrong(line: object) -> tuple[float, str]:
        share = line.flagged / line.of  # type: ignore[attr-defined]
        return -(1.0 - share if line.sensitive else share), line.family  # type: ignore[attr-defined]

    rows = [
        [line.family, "sensitive" if line.sensitive else "harmless", f"{line.flagged}", f"{line.of}"]
        for line in sorted(result.families, key=wrong)
    ]
    return table(
        "Held-out families, the worst first", ["family", "kind", "flagged", "of"], rows, numbers=(2, 3)
    )


def mistakes_html(result: Result) -> str:
    """Some of the sentences that were judged wrongly."""
    if not result.mistakes:
        return ""
    step = max(1, len(result.mistakes) // _MISTAKES)
    rows = [
        ["missed" if each.sensitive else "flagged for nothing", f"{each.score:.2f}", each.text]
        for each in result.mistakes[::step][:_MISTAKES]
    ]
    caption = f"Mistakes: {len(rows)} of {len(result.mistakes)}"
    return table(caption, ["what", "score", "sentence"], rows, numbers=(1,))


def compared_html(before: Card, now: Card) -> str:
    """The card before and after teaching."""
    rows = [
        [name, _of(old), _of(new)]
        for name, old, new in (
            ("sensitive sentences found", before.detector.recall, now.detector.recall),
            ("harmless sentences flagged", before.detector.false_positives, now.detector.false_positives),
            ("the paper's canary and variants", before.paper_canary, now.paper_canary),
            ("the harmless ones beside them", before.paper_harmless, now.paper_harmless),
        )
    ]
    return table("On held-out families", ["", "before", "now"], rows, numbers=(1, 2))


def _percent(share: Share) -> str:
    return f"{share.value:.1%}"


def _of(share: Share) -> str:
    return f"{share.hits} of {share.of} ({share.value:.1%})"
