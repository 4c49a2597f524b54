"""`python -m core generate` and `budget`: an ensemble from the shell."""

import typer

from core.catalogue import find_ensemble
from core.errors import InputError, LedgerUnavailable
from core.settings import load_settings

# Heavy libraries are imported in each command: `python -m core models`, which every start runs, needs none.


def generate(
    ensemble: str = typer.Argument(help="The name of a trained ensemble, or its folder."),
    prompt: str = typer.Option(..., help="The text to continue."),
    length: int = typer.Option(48, help="Tokens to draw at most."),
    temperature: float = typer.Option(1.0, help="Below 1 is more predictable, above 1 more surprising."),
    top_k: int = typer.Option(0, help="Draw among this many likeliest tokens of the public model; 0: all."),
    top_p: float = typer.Option(1.0, help="Draw among the public model's likeliest tokens of this share."),
) -> None:
    """Continue a prompt under the ensemble's budget; every token is debited before it is printed."""
    from core.ensembles import ServedEnsemble
    from core.lm.public import load_public
    from core.predict import Decoding
    from core.predict.generate import stream_private
    from core.store import open_store

    settings = load_settings()
    public = load_public(settings.model, settings)
    served = ServedEnsemble(find_ensemble(settings, ensemble, folders=True).folder, public)
    decoding = Decoding(temperature=temperature, top_k=top_k or None, top_p=top_p)
    with open_store(settings) as store:
        account = served.account(store.ledger)
        before = account.budget()
        stream = stream_private(
            public,
            served.decoder(),
            account,
            prompt,
            decoding,
            length=length,
            limits=settings,
            session="shell",
        )
        problem, spent = "", 0.0
        for token in stream:
            typer.echo(token.released.text, nl=False)
            problem, spent = token.drawn.problem or problem, spent + token.cost
        after = account.budget()
    typer.echo("")
    used = after.used - before.used
    typer.echo(
        f"{used} tokens, at most {spent:.4f} for any part; weakest has {min(after.remaining):.4f} left",
        err=True,
    )
    if problem:
        raise LedgerUnavailable(problem)


def budget(
    ensemble: str = typer.Argument(help="The name of a trained ensemble, or its folder."),
    candidates: int = typer.Option(10_000, min=2, help="How many candidates a guesser chooses among."),
) -> None:
    """What is left of an ensemble's budget, and what the budget means."""
    from core.ensembles import plan_of
    from core.privacy import extraction_bound, partition_to_user, rdp_to_dp
    from core.store import open_store

    settings = load_settings()
    entry = find_ensemble(settings, ensemble, folders=True)
    corpus, manifest = entry.corpus, entry.manifest
    with open_store(settings) as store:
        state = store.ledger.budget(corpus)
    if state is None:
        plan = plan_of(manifest)
        typer.echo(
            f"{corpus}: no budget opened yet; epsilon {plan.epsilon:g} at alpha {plan.alpha:g} planned"
        )
        return
    used = f"{state.used:,} of {state.queries:,} queries used"
    typer.echo(f"{state.corpus}: {state.protocol}, {state.parts} parts, {used}")
    left = f"weakest part has {min(state.remaining):.4f} left"
    typer.echo(f"epsilon {state.epsilon:g} at Renyi order {state.alpha:g}; {left}")
    typer.echo("left of each part: " + ", ".join(f"{left:.4f}" for left in state.remaining))
    typer.echo(f"as (epsilon, delta): {rdp_to_dp(state.alpha, state.epsilon, 1e-5):.4f} at delta 1e-5")
    try:
        order, user = partition_to_user(state.alpha, state.epsilon)
        typer.echo(f"for one user's data: epsilon {user:.4f} at Renyi order {order:g}")
    except InputError as error:
        typer.echo(f"for one user's data: {error}")
    chance = extraction_bound(state.alpha, state.epsilon, candidates)
    guesser = f"naming the right one of {candidates:,} candidates: at most {chance:.3%}"
    typer.echo(f"{guesser}, if all copies lie in one part")
