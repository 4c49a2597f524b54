"""`python -m core log`: show, export and purge the session log."""

import sys
from contextlib import nullcontext
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.errors import InputError
from core.settings import load_settings
from core.store import Event, export, open_store

app = typer.Typer(help="The session log: show, export, purge.", no_args_is_help=True)


class Form(StrEnum):
    """The file formats of an export."""

    csv = "csv"
    jsonl = "jsonl"


@app.command()
def show(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many events, newest first.")] = 20,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    panel: Annotated[str | None, typer.Option(help="Only this panel.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Only this outcome.")] = None,
) -> None:
    """Show the newest events."""
    with open_store(load_settings(), check=False) as store:
        events = store.log.events(limit=limit, session=session, panel=panel, outcome=outcome)
    for event in events:
        typer.echo(_line(event))
    if not events:
        typer.echo("The session log has no such events.")


@app.command("export")
def export_log(
    form: Annotated[Form, typer.Option("--format", help="csv or jsonl.")] = Form.csv,
    output: Annotated[Path | None, typer.Option(help="The file to write; without it, the screen.")] = None,
) -> None:
    """Write all events to a file."""
    with open_store(load_settings(), check=False) as store:
        try:
            target = output.open("w", encoding="utf-8", newline="") if output else nullcontext(sys.stdout)
            with target as stream:
                stream.writelines(export(store.log.stream(), form.value))
        except OSError as error:
            raise InputError(f"{output or 'The output'} cannot be written: {error.strerror}.") from error


@app.command()
def purge(
    days: Annotated[int | None, typer.Option(min=0, help="Without it, the retention that is set.")] = None,
) -> None:
    """Delete events older than so many days. The ledger is never touched."""
    settings = load_settings()
    age = settings.retention_days if days is None else days
    with open_store(settings, check=False) as store:
        deleted = store.log.purge(timedelta(days=age))
    typer.echo(f"Deleted {deleted:,} events older than {age} days.")


def _line(event: Event) -> str:
    took = "" if event.duration_ms is None else f", {event.duration_ms:.0f} ms"
    cost = "" if event.cost is None else f", cost {event.cost:.6f}"
    where = f" on '{event.corpus}'" if event.corpus else ""
    when = event.started.isoformat(sep=" ", timespec="seconds")
    return f"{when} {event.session} {event.panel}: {event.action}{where}, {event.outcome}{took}{cost}"
