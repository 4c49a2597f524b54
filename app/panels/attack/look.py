"""A run as HTML on the page: verdict, pictures, every number, and the stored runs and links below."""

from collections.abc import Sequence

from app.components.markup import escape, notice, table
from core.attack.asked import LEAST_EPSILON, MOST_EPSILON
from core.attack.kept.links import Link
from core.attack.kept.pictures import draw
from core.attack.kept.report import in_words, report_html, report_json
from core.attack.kept.runs import Finding, Outcome, Run
from core.attack.menu import ATTACKS, Attack
from core.attack.watch import Reached

EMPTY = (
    '<p class="attack-empty">What the attacker finds appears here: a verdict, the targets side by side, and '
    "every number with its interval.</p>"
)
EPSILONS = f"{LEAST_EPSILON:g} to {MOST_EPSILON:,}"
NO_RUNS = "No attack has been run here yet."
_FEW = 8  # seconds
_LISTED = 20  # of the stored runs; all of them can be chosen


def progress_html(reached: Reached) -> str:
    """A bar, what is done now, and the time left."""
    percent = round(100 * min(max(reached.share, 0.0), 1.0))
    left = "" if reached.seconds_left is None else f", {spoken(reached.seconds_left)} left"
    doing = escape(reached.doing[:1].upper() + reached.doing[1:])
    return (
        '<div class="working"><div class="progress" role="progressbar" aria-label="Attack" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}">'
        f'<span style="width:{percent}%"></span></div><p>{doing}{left}</p></div>'
    )


def estimate_html(
    attack: str, seconds: float | None, problem: str = "", *, trying: bool = False, busy: bool = False
) -> str:
    """What the attack does, and how long it will take here."""
    said = escape(ATTACKS[attack].says) if attack in ATTACKS else ""
    if problem:
        return f'<p class="attack-says">{said}</p>{notice(problem, kind="problem")}'
    if seconds is None and trying:
        time = "How long it takes here is being tried out."
    elif seconds is None:
        time = "The time is known once the model is in memory."
    else:
        time = f"Takes {spoken(seconds)} here at the present pace."
        if busy and seconds >= _FEW:
            time += " The machine is busy with other work: it may be much less, or more."
    return f'<p class="attack-says">{said} <b>{escape(time)}</b></p>'


def outcome_html(outcome: Outcome) -> str:
    """Verdict, pictures and numbers, also of a run that is not finished."""
    verdict = "".join(f"<p>{escape(sentence)}</p>" for sentence in outcome.verdict)
    charts = "".join(f'<div class="attack-chart">{draw(picture)}</div>' for picture in outcome.pictures)
    shown = f'<section class="attack-verdict" aria-label="Verdict">{verdict}</section>' if verdict else ""
    if charts:
        shown += f'<div class="attack-charts">{charts}</div>'
    return shown + (numbers_html(outcome.findings) if outcome.findings else "")


def run_html(run: Run) -> str:
    """A stored run, with its report in both forms for the download buttons."""
    kind = "synthetic" if run.synthetic else "private"
    head = (
        f'<p class="attack-head">{escape(title_of(run))}, {kind}. {escape(day(run.created))}, '
        f"{took(run.seconds)}, {escape(run.status)}.</p>"
    )
    problem = notice(run.problem, kind="problem") if run.problem else ""
    body = outcome_html(run.outcome) or notice("Nothing was found out.")
    notes = "".join(f"<li>{escape(note)}</li>" for note in run.outcome.notes)
    shown = {"seed of the experiment": str(run.seed), **run.settings}
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in shown.items())
    more = (
        f'<details class="attack-more"><summary>Conditions and settings</summary><ul>{notes}</ul>'
        f"<dl>{terms}</dl></details>"
    )
    files = "".join(
        f'<pre hidden class="attack-file" data-form="{form}" data-name="{_file_name(run)}.{form}">'
        f"{escape(content)}</pre>"
        for form, content in (("html", report_html(run)), ("json", report_json(run)))
    )
    return f"{head}{problem}{body}{more}{files}"


def numbers_html(findings: Sequence[Finding]) -> str:
    """Every number with its interval."""
    rows = [[each.target, each.measure, *in_words(each), each.note] for each in findings]
    return table("Numbers", ["target", "measure", "value", "95 % interval", "note"], rows, numbers=(2, 3))


def runs_html(runs: Sequence[Run]) -> str:
    """The stored runs, the newest first."""
    if not runs:
        return f'<p class="small">{NO_RUNS}</p>'
    rows = [
        [
            day(run.created),
            title_of(run),
            took(run.seconds),
            run.status,
            run.outcome.verdict[0] if run.outcome.verdict else run.problem or "nothing found",
        ]
        for run in runs[:_LISTED]
    ]
    shown = table("Stored runs", ["when", "attack", "took", "ended", "verdict"], rows, numbers=(2,))
    older = len(runs) - len(rows)
    return shown + (f'<p class="small">{older} older: choose them below.</p>' if older > 0 else "")


def links_html(links: Sequence[Link], runs: Sequence[Run]) -> str:
    """The links that are open; the address is completed by the browser, which knows the host."""
    if not links:
        return '<p class="small">No report is shared.</p>'
    known = {run.id: run for run in runs}
    rows = "".join(
        f"<tr><td>{escape(day(link.created))}</td>"
        f"<td>{escape(title_of(known[link.run]) if link.run in known else 'a deleted run')}</td>"
        f'<td><a href="report/{escape(link.token)}" target="_blank" rel="noopener noreferrer">open</a></td>'
        f'<td><button type="button" class="attack-copy" data-token="{escape(link.token)}">Copy link'
        "</button></td></tr>"
        for link in links
    )
    return (
        '<div class="table-scroll" tabindex="0" role="region" aria-label="Shared reports"><table>'
        "<caption>Shared reports: whoever has the link may read, until it is revoked</caption>"
        "<thead><tr><th>since</th><th>report</th><th>page</th><th>link</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def title_of(run: Run) -> str:
    """A run in a line."""
    known = ATTACKS.get(run.attack)
    return f"{known.title if known else run.attack}: {run.subject}"


def label_of(run: Run) -> str:
    """A run in a list of choices."""
    return f"{day(run.created)}, {title_of(run)}"


def day(created: str) -> str:
    """When, to the minute."""
    return created[:16].replace("T", " ")


def spoken(seconds: float) -> str:
    """A time in words, rounded as far as an estimate deserves."""
    if seconds < _FEW:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)} seconds"
    minutes = round(seconds / 60)
    return f"about {minutes} minutes" if minutes < 90 else f"about {seconds / 3600:.1f} hours"


def limits_of(offer: Attack) -> str:
    """How many may be asked for."""
    return f"{offer.least:,} to {offer.most:,}"


def took(seconds: float) -> str:
    """A time that was measured; it stays on one line."""
    return f"{max(seconds, 1.0):,.0f}\N{NO-BREAK SPACE}s"


def _file_name(run: Run) -> str:
    return f"attack-{run.attack}-{run.created[:10]}"
