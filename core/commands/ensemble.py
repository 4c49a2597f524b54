"""`python -m core train`, `generate` and `budget`: an ensemble from the shell."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from core.errors import InputError, LedgerUnavailable
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.lm.finetune import Progress as Reached

# Heavy libraries are imported in each command: `python -m core models`, which every start runs, needs none.
DEMO = "demo"


def train(
    corpus: str = typer.Argument(help="A text, CSV, JSONL, Parquet or zip file, or `demo`."),
    parts: int = typer.Option(8, help="How many parts the users are split into."),
    halves: bool = typer.Option(False, help="Train two halves of each part, as SubMix needs."),
    protocol: str = typer.Option("strict", help="strict, submix, pmixed or a baseline."),
    epsilon: float = typer.Option(2.0, help="The privacy budget of each part, in nats."),
    alpha: float = typer.Option(2.0, help="The Renyi order."),
    queries: int = typer.Option(1024, help="How many tokens the budget is planned for."),
    passes: int = typer.Option(3, help="Passes over each part's text."),
    layers: int = typer.Option(8, help="How many of the model's top layers learn."),
    whole_passes: int = typer.Option(0, help="Also train one adapter on everything; synthetic corpora only."),
    synthetic: bool = typer.Option(False, help="Declare that nobody in the corpus exists."),
    user_column: str = typer.Option(None, help="The column with the user ids, if it is not found by itself."),
    text_column: str = typer.Option(None, help="The column with the text, if it is not found by itself."),
    name: str = typer.Option(None, help="What to call the ensemble; the file's name otherwise."),
) -> None:
    """Train an ensemble on a user-level corpus and open its budget."""
    from core.corpus import load_demo, read_corpus
    from core.corpus.demo import DEMO_KEY
    from core.ensembles import Plan, ServedEnsemble, partition_key, train_ensemble
    from core.lm.finetune import TrainingSettings
    from core.lm.public import load_public
    from core.lm.stack import LoraShape
    from core.store import open_store

    settings, console = load_settings(), Console()
    if corpus == DEMO:
        read = load_demo()
    else:
        read = read_corpus(
            Path(corpus), user_column=user_column, text_column=text_column, synthetic=synthetic, name=name
        )
    called = name or (DEMO if corpus == DEMO else read.name)
    folder = ensemble_folder(settings, called)
    plan = Plan(
        parts=parts,
        halves=halves,
        epsilon=epsilon,
        alpha=alpha,
        queries=queries,
        protocol=protocol,
        whole_passes=whole_passes,
        training=TrainingSettings(passes=passes, shape=LoraShape(layers=layers)),
    )
    public = load_public(settings.model, settings)
    with open_store(settings) as store:
        key = DEMO_KEY if corpus == DEMO else partition_key(settings, called)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("training", total=1.0)

            def reached(progress: "Reached") -> None:
                bar.update(task, completed=progress.share, description=f"training, loss {progress.loss:.2f}")

            reports = train_ensemble(read, public, plan, folder, key=key, progress=reached)
        for report in reports:
            held_out = f", held out {report.validation[report.kept - 1]:.3f}" if report.validation else ""
            console.print(
                f"{report.name}: {report.tokens:,} tokens, loss {report.training[-1]:.3f}{held_out}"
            )
        budget = ServedEnsemble(folder, public).open_budget(store.ledger)
    console.print(f"{called} is in {folder}. Budget: epsilon {budget.epsilon:g} at alpha {budget.alpha:g}.")


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
    served = ServedEnsemble(ensemble_folder(settings, ensemble), public)
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


def budget(ensemble: str = typer.Argument(help="The name of a trained ensemble, or its folder.")) -> None:
    """What is left of an ensemble's budget, and what the budget means."""
    from core.ensembles import plan_of
    from core.lm.adapters import read_manifest
    from core.privacy import extraction_bound, partition_to_user, rdp_to_dp
    from core.store import open_store

    settings = load_settings()
    manifest = read_manifest(ensemble_folder(settings, ensemble))
    corpus = str(manifest.partition["corpus"])
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
    typer.echo(f"as (epsilon, delta): {rdp_to_dp(state.alpha, state.epsilon, 1e-5):.4f} at delta 1e-5")
    try:
        order, user = partition_to_user(state.alpha, state.epsilon)
        typer.echo(f"for one user's data: epsilon {user:.4f} at Renyi order {order:g}")
    except InputError as error:
        typer.echo(f"for one user's data: {error}")
    chance = extraction_bound(state.alpha, state.epsilon, 10_000)
    typer.echo(
        f"naming the right one of 10,000 candidates: at most {chance:.3%}, if all copies lie in one part"
    )


def ensemble_folder(settings: Settings, name: str) -> Path:
    """A folder as it is given, or the ensemble of that name."""
    if (Path(name) / "manifest.json").is_file():
        return Path(name)
    if not name or Path(name).name != name or name.startswith("."):
        raise InputError(f"{name!r} is no name of an ensemble.")
    return settings.data_dir / "ensembles" / name
