"""`python -m core ledger`: verify the chain, show the budgets, adopt a database. For the curator."""

from typing import Annotated

import typer

from core.settings import load_settings
from core.store import Budget, open_store

app = typer.Typer(help="The privacy ledger: verify it, show its budgets.", no_args_is_help=True)


@app.command()
def verify() -> None:
    """Replay the whole ledger; ends with 1 and a sentence for each break if it does not hold."""
    with open_store(load_settings(), check=False) as store:
        found = store.ledger.verify()
    for sentence in found.breaks:
        typer.echo(sentence)
    if not found.ok:
        typer.echo(f"The ledger is broken in {len(found.breaks)} places; {found.entries:,} entries read.")
        raise typer.Exit(1)
    typer.echo(f"The ledger holds: {found.entries:,} entries, {found.budgets:,} budgets, head {found.head}.")


@app.command()
def show() -> None:
    """Show every corpus' budget. What is left is a function of private data: do not pass it on."""
    with open_store(load_settings(), check=False) as store:
        found = [store.ledger.budget(corpus) for corpus in store.ledger.corpora()]
    budgets = [budget for budget in found if budget is not None]
    for budget in budgets:
        typer.echo(_line(budget))
    if not budgets:
        typer.echo("No budget has been opened.")


@app.command()
def adopt(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Accept the database although the high-water mark says that it is not the one that was written.

    Whatever the lost entries had charged is forgotten, while its tokens have left.
    """
    with open_store(load_settings(), check=False) as store:
        question = "Accept this database? Debits that it does not hold are forgotten for good."
        if not yes and not typer.confirm(question):
            typer.echo("Nothing was changed.")
            raise typer.Exit(1)
        accepted = store.ledger.adopt()
    typer.echo(f"Adopted. {accepted}" if accepted else "Nothing to adopt: database and mark agree.")


def _line(budget: Budget) -> str:
    weakest = min(range(budget.parts), key=budget.remaining.__getitem__)
    state = "stopped" if budget.stopped else "used up" if budget.used >= budget.queries else "open"
    return (
        f"{budget.corpus} ({'synthetic' if budget.synthetic else 'private'}, {budget.protocol}): {state}, "
        f"epsilon {budget.epsilon:g} at alpha {budget.alpha:g}, {budget.parts} parts, "
        f"{budget.used:,} of {budget.queries:,} queries, "
        f"weakest part {weakest + 1} has {budget.remaining[weakest]:.6f} left"
    )
