"""How Corpora looks: texts, trainings and ensembles as HTML. Everything that came from outside is escaped."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import quote

from app.components.fitted import Size, fitted
from app.components.markup import escape, notice, table
from app.components.phrases import percent
from core.catalogue import Entry
from core.charts import Axis, Line, line_chart
from core.corpus import CorpusReport, report_sentences
from core.curator.guidance import Guidance
from core.curator.jobs import UNFINISHED_DAYS
from core.curator.status import Curve, JobStatus
from core.curator.uploads import UPLOAD_HOURS, Upload
from core.store import Budget

LEAD = (
    "Train on text of your own and serve it under a budget. The users are split into parts, each part "
    "teaches an adapter, and the answers come from all of them together."
)
NO_PASSWORD = (
    "Training is for the curator, and there is none here: set SUBMIX_CURATOR_PASSWORD to a password of your "
    "own and start the studio again."
)
SIGN_IN = "Training is for the curator: sign in at the foot of the page."
_STATES = {
    "queued": "Loading the model",
    "running": "Training",
    "done": "Trained",
    "cancelled": "Stopped",
    "failed": "Failed",
    "interrupted": "Interrupted",
}
_IN_ONE_CHART = 6  # more lines than colours cannot be told apart


def gate_html(curator: bool, password: bool) -> str:
    """What the panel is for, and who may use it."""
    said = "" if curator else notice(SIGN_IN if password else NO_PASSWORD)
    return f'<p class="lead">{LEAD}</p>{said}'


def waiting_html(upload: Upload | None) -> str:
    """The text that waits, when it will be deleted, and the way on, which hides where the report is."""
    if upload is None:
        return ""
    until = upload.received + timedelta(hours=UPLOAD_HOURS)
    said = notice(
        f"{upload.name} is here, out of the web server's cache. It is deleted once it is trained, when you "
        f"remove it, or by {until:%Y-%m-%d %H:%M} UTC."
    )
    return f'{said}<p class="small" id="corpus-unread">Read it again for its report, and to train.</p>'


def report_html(report: CorpusReport) -> str:
    """The figures of a corpus, then what should be known of it."""
    repeated = max(report.exact.documents, report.near.documents)
    dropped = sum(each.count for each in report.dropped)
    figures = {
        "users": report.users,
        "documents": report.documents,
        report.unit: report.tokens,
        "repeated over users": repeated,
        "dropped": dropped,
    }
    tiles = "".join(f"<div><dt>{name}</dt><dd>{value:,}</dd></div>" for name, value in figures.items())
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in report_sentences(report)[1:])
    return f'<dl class="tiles">{tiles}</dl><ul class="said">{lines}</ul>'


def guidance_html(guidance: Guidance) -> str:
    """What each number of parts would mean, and the advice."""
    rows = [
        [
            f"{choice.parts}{' (advised)' if choice.parts == guidance.suggested else ''}",
            _range(choice.users),
            _range(choice.words),
            f"{choice.cost:.3g} x",
        ]
        for choice in guidance.choices
    ]
    heads = ["parts", "people in each", "words in each", "cost of a token, against 8 parts"]
    counts = "The advice looks at how many people and words there are, never at what they say."
    return (
        f"{notice(guidance.advice)}{table('How many parts', heads, rows, numbers=(1, 2, 3))}"
        f'<p class="small">At most {guidance.largest} parts leave nobody\'s part empty. {counts}</p>'
    )


def estimate_html(seconds: float, tokens: int) -> str:
    """How long it will take."""
    return notice(
        f"There are about {tokens:,} tokens. Training takes {spoken(seconds)} here, longer while others use "
        "this machine: answers go first. It goes on when you close the page."
    )


def status_html(status: JobStatus | None) -> str:
    """A training: its state in words, how far it is, its curves, and what came of it."""
    if status is None:
        return ""
    share = round(100 * status.share)
    bar = (
        f'<div class="progress" role="progressbar" aria-label="Training of {escape(status.name)}" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{share}">'
        f'<span style="width:{share}%"></span></div>'
    )
    parts = [
        f'<section class="training {status.state}"><h2>{escape(status.name)}: {_STATES[status.state]}</h2>',
        bar if status.state != "done" else "",
        f'<p class="small">{escape(_now(status))}</p>',
        notice(status.sentence, kind="problem") if status.sentence else "",
        "".join(notice(note) for note in status.notes),
        _link(status),
        curves_html(status.curves),
        _reports(status),
        "</section>",
    ]
    return "".join(parts)


def curves_html(curves: Sequence[Curve]) -> str:
    """The loss of every adapter: one chart for a few of them, small ones side by side for many."""
    drawn = [curve for curve in curves if len(curve.points) > 2]
    if not drawn:
        return ""
    if len(drawn) <= _IN_ONE_CHART:
        lines = [Line(curve.adapter, curve.points) for curve in drawn]
        x, y = Axis("step", low=0.0), Axis("loss, nats a token")

        def draw(size: Size) -> str:
            return line_chart(lines, title="Loss by adapter", x=x, y=y, size=size)

        return f'<div class="curves">{fitted(draw, (760, 280), (340, 250))}</div>'
    every = [loss for curve in drawn for _, loss in curve.points]
    low, high = min(every), max(every)
    small = "".join(_small(curve, low, high) for curve in drawn)
    return (
        '<p class="small">Loss by adapter, in nats a token, '
        f"all on one scale from {low:.2f} to {high:.2f}.</p>"
        f'<ul class="small-curves">{small}</ul>'
    )


def ensembles_html(entries: Sequence[Entry], budgets: Mapping[str, Budget], curator: bool) -> str:
    """What can be asked. What was spent is a function of private text, and for the curator."""
    if not entries:
        return notice("Nothing has been trained here yet.")
    rows = []
    for entry in entries:
        budget, plan = budgets.get(entry.corpus), entry.manifest.budget
        exact = budget is not None and (curator or (entry.synthetic and budget.synthetic))
        epsilon = budget.epsilon if budget else float(plan.get("epsilon", 0.0))
        queries = budget.queries if budget else int(plan.get("queries", 0))
        rows.append(
            [
                entry.name,
                "synthetic" if entry.synthetic else "private",
                _parts(entry),
                budget.protocol if budget else str(plan.get("protocol", "")),
                f"{epsilon:g}",
                f"{epsilon - min(budget.remaining):.4f}" if budget and exact else "hidden" if budget else "0",
                f"{budget.used if budget else 0:,} of {queries:,}",
                entry.manifest.created[:10],
                _remarks(entry),
            ]
        )
    heads = ["name", "text", "parts", "protocol", "epsilon", "spent", "queries used", "trained", "remarks"]
    return table("What can be asked on Predict", heads, rows, numbers=(2, 4, 5, 6))


def _parts(entry: Entry) -> str:
    """The number of parts, and whether each was trained as two halves."""
    halves = " in halves" if entry.manifest.partition.get("halves") else ""
    return f"{entry.manifest.partition.get('k')}{halves}"


def delete_question(entry: Entry, budget: Budget | None) -> str:
    """What deleting does, and what it does not."""
    used = f", {budget.used:,} of {budget.queries:,} queries used," if budget else ""
    return notice(
        f"Delete '{entry.name}'? Its adapters are gone for good. Its budget{used} stays in the ledger, and "
        "its text stays known by keyed fingerprints, so that the same people are not given a second budget.",
        kind="problem",
    )


def spoken(seconds: float) -> str:
    """A time in words, rounded as far as an estimate deserves."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 90:
        return "about a minute" if minutes == 1 else f"about {minutes} minutes"
    return f"about {seconds / 3600:.1f} hours"


def _now(status: JobStatus) -> str:
    reached = f"{percent(status.share)} done"
    if status.state == "queued":
        return "The training begins when the model is in memory."
    if status.state == "running":
        left = "" if status.seconds_left is None else f", {spoken(status.seconds_left)} left"
        now = f", now {status.adapter}" if status.adapter else ""
        return f"{reached}{left}{now}. You may close the page; this goes on, and answers go first."
    if status.state == "done":
        return "It is served, and its text is deleted from this machine."
    if not status.kept:
        return "Nothing was learned. The text is still here: change the plan and train again."
    why = "The studio was stopped in the middle. " if status.state == "interrupted" else ""
    return (
        f"{why}{reached}. Continue goes on from there; Discard deletes the text and what was learned. "
        f"Left alone, both are deleted after {UNFINISHED_DAYS} days."
    )


def _link(status: JobStatus) -> str:
    if status.state != "done":
        return ""
    return (
        f'<p><a class="button" href="?panel=predict&amp;corpus={quote(status.name)}">Open in Predict</a></p>'
    )


def _reports(status: JobStatus) -> str:
    if status.state != "done":
        return ""
    rows = [
        [
            report.name,
            f"{report.documents:,}",
            f"{report.tokens:,}",
            f"{report.training[0]:.3f}" if report.training else "",
            f"{report.training[-1]:.3f}" if report.training else "",
            f"{report.validation[report.kept - 1]:.3f}" if report.validation else "",
        ]
        for report in status.reports
    ]
    heads = ["adapter", "documents", "tokens", "loss, first pass", "last pass", "held out"]
    return table("What was learned", heads, rows, numbers=(1, 2, 3, 4, 5))


def _small(curve: Curve, low: float, high: float) -> str:
    steps, span = max(curve.points[-1][0], 1.0), max(high - low, 1e-9)
    places = " ".join(
        f"{100 * s / steps:.1f},{34 - 32 * (loss - low) / span:.1f}" for s, loss in curve.points
    )
    last = curve.points[-1][1]
    return (
        f'<li><span>{escape(curve.adapter)}</span><svg viewBox="0 0 100 36" preserveAspectRatio="none" '
        f'aria-hidden="true"><polyline points="{places}"/></svg><span>{last:.2f}</span></li>'
    )


def _remarks(entry: Entry) -> str:
    said = []
    if entry.shipped:
        said.append("came with the studio")
    if entry.corpus != entry.name:
        said.append(f"budget: {entry.corpus}")
    if entry.manifest.partition.get("adds_to"):
        said.append(f"adds to {', '.join(map(str, entry.manifest.partition['adds_to']))}")
    return "; ".join(said)


def _range(ends: tuple[int, int]) -> str:
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,} to {ends[1]:,}"
