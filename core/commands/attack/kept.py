"""What attacks have left behind: runs, their reports, and links to them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.errors import InputError
from core.settings import load_settings

Name = Annotated[str, typer.Argument(help="The name of a run, as `runs` lists it.")]


class Form(StrEnum):
    """The file formats of a report."""

    html = "html"
    json = "json"


def runs() -> None:
    """List the stored runs, the newest first."""
    from core.attack.kept.storage import list_runs

    found = list_runs(load_settings())
    for run in found:
        first = run.outcome.verdict[0] if run.outcome.verdict else run.problem or "nothing found"
        typer.echo(f"{run.id}  {run.created}  {run.attack} on {run.subject}, {run.status}: {first}")
    if not found:
        typer.echo("No attack has been run here.")


def report(
    run: Name,
    form: Annotated[Form, typer.Option("--format", help="html or json.")] = Form.html,
    output: Annotated[Path | None, typer.Option(help="The file to write; without it, the screen.")] = None,
) -> None:
    """Write the report of a run: one HTML file that needs nothing else, or JSON."""
    from core.attack.kept.report import report_html, report_json
    from core.attack.kept.storage import load_run

    found = load_run(load_settings(), run)
    text = report_html(found) if form is Form.html else report_json(found)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}.") from error
    typer.echo(f"Wrote {output}.")


def delete(run: Name) -> None:
    """Delete a stored run for good."""
    from core.attack.kept.links import forget_links_of
    from core.attack.kept.storage import delete_run

    settings = load_settings()
    delete_run(settings, run)
    forget_links_of(settings, run)
    typer.echo("Deleted.")


def link(
    run: Name = "",
    revoke: Annotated[str, typer.Option(help="A link to end.")] = "",
) -> None:
    """Make a read-only link to a run's report on the running studio, end one, or list all."""
    from core.attack.kept.links import list_links, make_link, revoke_link

    settings = load_settings()
    if revoke:
        revoke_link(settings, revoke.rsplit("/", 1)[-1])
        typer.echo("Revoked.")
    elif run:
        typer.echo(f"/report/{make_link(settings, run).token}")
    else:
        for each in list_links(settings):
            typer.echo(f"/report/{each.token}  {each.created}  run {each.run}")
