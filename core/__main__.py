"""The command line: `python -m core COMMAND`."""

import sys

import typer

from core import memory
from core.commands import (
    attack,
    budgets,
    cadp,
    compare,
    corpus,
    detect,
    ensemble,
    ledger,
    log,
    models,
    sanitize,
    training,
)
from core.errors import StudioError

app = typer.Typer(
    help="SubMix Studio on files and scripts; the application itself is `python app.py`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("models")(models.bring_models)
app.command()(training.train)
app.command()(ensemble.generate)
app.command()(compare.compare)
app.command()(ensemble.budget)
app.command()(budgets.ensembles)
app.command()(budgets.quote)
app.command()(budgets.restart)
app.command()(detect.detect)
app.add_typer(detect.app, name="detector")
for command in (training.rename, training.delete, training.trainings, training.discard):
    app.command()(command)
app.command("continue")(training.go_on)
app.command()(sanitize.sanitize)
app.command()(sanitize.calibrate)
app.add_typer(cadp.app, name="cadp")
app.add_typer(attack.app, name="attack")
app.add_typer(ledger.app, name="ledger")
app.add_typer(log.app, name="log")
app.add_typer(corpus.app, name="corpus")


def main() -> None:
    """Run a command; an expected error is one sentence on standard error and exit code 1."""
    memory.settle()
    try:
        app()
    except StudioError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
