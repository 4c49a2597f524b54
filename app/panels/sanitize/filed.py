"""A file on its way and what became of it, as HTML."""

from collections.abc import Sequence

from app.components.markup import escape, notice, table
from app.panels.sanitize.phrases import duration, number
from core.sanitize import FileProgress, FileReport

_FAILURES = 10


def file_progress_html(progress: FileProgress) -> str:
    """How far a file is."""
    doing = f"{number(progress.words, 'word')} in {number(progress.rows, 'row')}"
    return progress_html(progress.share, doing, progress.seconds_left)


def progress_html(share: float, doing: str, seconds_left: float | None) -> str:
    """A bar with words below it."""
    known = seconds_left is not None and seconds_left < 1e6
    left = f", about {duration(seconds_left or 0.0)} left" if known else ""
    percent = round(100 * min(max(share, 0.0), 1.0))
    return (
        '<div class="working"><div class="progress" role="progressbar" aria-label="Progress" '
        f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}">'
        f'<span style="width:{percent}%"></span></div><p>{escape(doing)}{left}</p></div>'
    )


def report_html(name: str, report: FileReport, sentences: Sequence[str]) -> str:
    """What was done to a file; what could not be sanitised is named."""
    rows = number(report.rows, "row")
    if report.failed:
        shown = _failures_html(name, report, rows)
    else:
        shown = notice(f"{name} is rewritten: {rows} in {duration(report.seconds)}.", kind="done")
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in (*report.notes, *sentences))
    return f'{shown}<ul class="said">{listed}</ul>'


def _failures_html(name: str, report: FileReport, rows: str) -> str:
    said = (
        f"{name} is rewritten, but {report.failed:,} of {rows} could not be: a placeholder stands for each, "
        "and the original has them."
    )
    listed = report.failures[:_FAILURES]
    caption = f"Not rewritten: {len(listed)} of {report.failed:,}" if report.failed > 1 else "Not rewritten"
    cells = [[failure.place, failure.reason] for failure in listed]
    return notice(said, kind="problem") + table(caption, ["where", "why"], cells)
