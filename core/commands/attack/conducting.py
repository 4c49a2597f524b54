"""An attack in the terminal: a bar while it runs, what it found when it has ended."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from core.settings import Settings

if TYPE_CHECKING:
    from core.attack.conduct import Prepared

Seed = Annotated[int, typer.Option(help="Of the experiment; the protected mechanism is never seeded.")]


def run_with_a_bar(settings: Settings, prepared: "Prepared") -> None:
    """Conduct an attack with a bar, and print what it found. Ctrl-C ends it and keeps what it has."""
    from core.attack.conduct import Cancel, conduct
    from core.attack.kept.report import in_words
    from core.attack.watch import Reached, Watch

    console = Console(stderr=True)
    console.print(f"About {prepared.seconds:,.0f} seconds.", highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(prepared.attack, total=1.0)

        def reached(now: Reached) -> None:
            bar.update(task, completed=now.share, description=now.doing)

        cancel = Cancel()
        with _at_an_interrupt(cancel.set):
            run = conduct(settings, prepared, watch=Watch(reached, cancel))
    for finding in run.outcome.findings:
        value, interval = in_words(finding)
        shown = f" ({interval})" if interval else ""
        typer.echo(f"{finding.target}: {finding.measure} {value}{shown}")
    for sentence in run.outcome.verdict:
        typer.echo(sentence)
    if run.problem:
        typer.echo(run.problem, err=True)
    typer.echo(f"Kept as {run.id}; `attack report {run.id}` writes it out.", err=True)


@contextmanager
def _at_an_interrupt(ask_to_end: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C asks the attack to end; the second one ends the program."""

    def asked(signum: int, frame: object) -> None:
        ask_to_end()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
