"""`python -m core ensembles`, `quote` and `restart`: what can be asked, at what price, and starting over."""

import typer

from core.catalogue import find_ensemble, list_ensembles
from core.settings import load_settings

# Libraries that a start does not need are imported in each command.


def ensembles() -> None:
    """What was trained here, and the demonstration that came with the application."""
    from core.predict.terms import planned_terms
    from core.store import open_store

    settings = load_settings()
    with open_store(settings) as store:
        for entry in list_ensembles(settings):
            state = store.ledger.budget(entry.corpus)
            terms = state or planned_terms(entry.manifest)
            kind = "synthetic" if entry.synthetic else "private"
            used = f"{state.used:,}" if state else "0"
            model = "" if entry.fits(settings) else f", made for the model {entry.manifest.base_model!r}"
            typer.echo(
                f"{entry.name}: {kind}, {terms.protocol}, {terms.parts} parts, epsilon {terms.epsilon:g} at "
                f"order {terms.alpha:g}, {used} of {terms.queries:,} queries used{model}"
            )


def quote(
    ensemble: str = typer.Argument(help="The name of a trained ensemble, or its folder."),
    length: int = typer.Option(48, help="The number of tokens."),
) -> None:
    """The most that any part can pay for so many more tokens, from public facts alone."""
    from core.predict.terms import planned_terms, quoted
    from core.store import open_store

    settings = load_settings()
    entry = find_ensemble(settings, ensemble, folders=True)
    with open_store(settings) as store:
        state = store.ledger.budget(entry.corpus) or planned_terms(entry.manifest)
    typer.echo(f"{length} tokens cost any part at most {quoted(state, length):.6f} of {state.epsilon:g}")


def restart(
    ensemble: str = typer.Argument(help="The name of a synthetic ensemble, or its folder."),
    protocol: str = typer.Option(None, help="strict, submix, pmixed or a baseline."),
    epsilon: float = typer.Option(None, help="The privacy budget of each part, in nats."),
    alpha: float = typer.Option(None, help="The Renyi order."),
    queries: int = typer.Option(None, help="How many tokens the budget is planned for."),
    w_max: float = typer.Option(None, help="The most that a part may weigh in its own answer (Strict)."),
    allowance: str = typer.Option(
        None, help="How a part's budget is spread: rolling, even or banked (Strict)."
    ),
) -> None:
    """Start a synthetic corpus' budget over, for demonstration; a private corpus has one for good."""
    from core.predict.terms import start_over
    from core.store import open_store

    settings = load_settings()
    entry = find_ensemble(settings, ensemble, folders=True)
    with open_store(settings) as store:
        state = start_over(
            store.ledger,
            entry.corpus,
            entry.manifest,
            protocol=protocol,
            epsilon=epsilon,
            alpha=alpha,
            queries=queries,
            w_max=w_max,
            allowance=allowance,
        )
    typer.echo(
        f"{entry.corpus}: a fresh budget, {state.protocol}, epsilon {state.epsilon:g} "
        f"at order {state.alpha:g} over {state.queries:,} queries"
    )
