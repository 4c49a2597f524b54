"""`python -m core attack`: run an attack, list the runs, write a report.

The attacks' libraries are imported in each command: the command line itself starts without them.
"""

import typer

from core.commands.attack import experiments, kept, trained

app = typer.Typer(help="Attack what was trained, and see what leaks.", no_args_is_help=True)
for command in (
    trained.secrets,
    experiments.canaries,
    experiments.codes,
    trained.membership,
    experiments.reconstruction,
    experiments.audit,
    experiments.stop,
    kept.runs,
    kept.report,
    kept.delete,
    kept.link,
):
    app.command()(command)
