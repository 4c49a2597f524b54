"""A file on its way and what became of it, as HTML."""

from collections.abc import Sequence

from app.components.markup import escape, notice, table
from app.components.phrases import duration, number
from app.components.progress import progress_html
from core.sanitize import FileProgress, FileReport

_FAILURES = 10


def file_progress_html(progress: FileProgress) -> str:
    """How far a file is."""
    doing = f"{number(progress.words, 'word')} in {number(progress.rows, 'row')}"
    return progress_html(progress.share, doing, progress.seconds_left)


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
