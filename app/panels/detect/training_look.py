"""CADP training as HTML: how far it is, its curves, its card, and two answers side by side."""

from app.components.fitted import Size, fitted
from app.components.markup import escape, notice
from app.panels.corpora.look import spoken
from core.charts import Axis, Line, line_chart
from core.context.cadp.card import CadpCard
from core.context.cadp.status import CadpStatus
from core.curator.jobs import UNFINISHED_DAYS

_STATES = {
    "loading": "Loading the models",
    "reading": "Reading the text",
    "training": "Training",
    "done": "Trained",
    "stopped": "Stopped",
    "interrupted": "Interrupted",
    "failed": "Failed",
}


def status_html(status: CadpStatus | None) -> str:
    """The training and its curves, for those who may see them."""
    if status is None:
        return ""
    percent = round(100 * status.share)
    bar = (
        f'<div class="progress" role="progressbar" aria-label="Training of {escape(status.name)}" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}">'
        f'<span style="width:{percent}%"></span></div>'
    )
    return (
        f'<section class="training {status.state}"><h2>{escape(status.name)}: {_STATES[status.state]}</h2>'
        f'{bar if status.going or status.kept else ""}<p class="small">{escape(_now(status))}</p>'
        f"{notice(status.sentence, kind='problem') if status.sentence else ''}"
        f"{curves_html(status)}</section>"
    )


def curves_html(status: CadpStatus) -> str:
    """Loss and epsilon over the steps; both axes end where the training will, so that nothing jumps."""
    if len(status.losses) < 2:
        return ""
    x = Axis("step", low=0.0, high=float(status.steps))

    def chart(line: Line, title: str, y: Axis) -> str:
        def draw(picture: Size) -> str:
            return line_chart([line], title=title, x=x, y=y, size=picture)

        return f"<div>{fitted(draw, (540, 280), (310, 240))}</div>"

    drawn = chart(Line("loss", status.losses), "Loss", Axis("nats a token", low=0.0))
    if status.epsilons:
        spent = Axis("epsilon", low=0.0, high=status.most)
        drawn += chart(Line("epsilon", status.epsilons), "Epsilon spent on a flagged sequence", spent)
    return f'<div class="cadp-curves">{drawn}</div>'


def card_html(card: CadpCard) -> str:
    """What is guaranteed, and what is not."""
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in card.sentences())
    return f'<section class="facts"><h3>{escape(card.title)}</h3><ul class="said">{lines}</ul></section>'


def answers_html(name: str, prompt: str, trained: str, public: str) -> str:
    """The trained model's answer beside the public model's."""

    def column(title: str, made: str) -> str:
        return (
            f'<div><h3>{escape(title)}</h3><div class="answer" tabindex="0"><span class="prompt">'
            f'{escape(prompt)}</span><span class="made">{escape(made)}</span></div></div>'
        )

    return f'<div class="cadp-answers">{column(name, trained)}{column("Public model", public)}</div>'


def _now(status: CadpStatus) -> str:
    if status.state == "done":
        return "It can be asked below, and attacked. Answers cost no privacy beyond what the training spent."
    if status.state == "loading":
        return "The training begins when the models are in memory and the sentences are flagged."
    if status.going:
        left = "" if status.seconds_left is None else f", {spoken(status.seconds_left)} left"
        return f"{status.share:.0%} done{left}. You may close the page; this goes on."
    if not status.kept:
        return "Nothing was learned, and nothing was kept."
    why = "The studio was stopped in the middle. " if status.state == "interrupted" else ""
    steps = f", {status.step:,} of {status.steps:,} steps" if status.steps else ""
    spent = f", epsilon {status.epsilons[-1][1]:.3g}" if status.epsilons else ""
    return (
        f"{why}{status.share:.0%} done{steps}{spent}. Continue goes on from there; Discard deletes the copy "
        f"of the text and what was learned. Left alone, both are deleted after {UNFINISHED_DAYS} days."
    )
