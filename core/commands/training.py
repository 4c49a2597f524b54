"""`python -m core train`, `trainings`, `continue`, `discard`, `rename`, `delete`: the curator's shell."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from core.catalogue import DEMO, delete_ensemble, ensemble_folder, rename_ensemble
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.corpus import Corpus
    from core.curator.job import Job
    from core.ensembles import Plan
    from core.lm.finetune import AdapterReport
    from core.lm.finetune import Progress as Reached
    from core.store import Ledger

# Heavy libraries are imported in each command: `python -m core models`, which every start runs, needs none.


def train(
    corpus: str = typer.Argument(help="A text, CSV, JSONL, Parquet or zip file, or `demo`."),
    parts: int = typer.Option(8, help="How many parts the users are split into."),
    halves: bool = typer.Option(False, help="Train two halves of each part, as SubMix needs."),
    protocol: str = typer.Option("strict", help="strict, submix, pmixed or a baseline."),
    epsilon: float = typer.Option(2.0, help="The privacy budget of each part, in nats."),
    alpha: float = typer.Option(2.0, help="The Renyi order."),
    queries: int = typer.Option(1024, help="How many tokens the budget is planned for."),
    passes: int = typer.Option(3, help="Passes over each part's text."),
    batch: int = typer.Option(2, help="Sequences in a training step; small parts need many small steps."),
    rate: float = typer.Option(1e-3, help="The learning rate; high ones memorise."),
    layers: int = typer.Option(8, help="How many of the model's top layers learn."),
    rank: int = typer.Option(8, help="The rank of the adapters."),
    kept_rank: int = typer.Option(None, help="Store the parts at this lower rank; they say nearly the same."),
    w_max: float = typer.Option(0.5, help="The most that a part may weigh in its own answer (Strict)."),
    allowance: str = typer.Option(
        "banked", help="How a part's budget is spread: rolling, even or banked (Strict)."
    ),
    whole_passes: int = typer.Option(0, help="Also train one adapter on everything; synthetic corpora only."),
    synthetic: bool = typer.Option(False, help="Declare that nobody in the corpus exists."),
    user_column: str = typer.Option(None, help="The column with the user ids, if it is not found by itself."),
    text_column: str = typer.Option(None, help="The column with the text, if it is not found by itself."),
    each_document_a_user: bool = typer.Option(
        False, help="Declare that no two documents are from the same user."
    ),
    guarantees_add: bool = typer.Option(
        False, help="Declare that you know the guarantees add up with those of an earlier corpus."
    ),
    name: str = typer.Option(None, help="What to call the ensemble; the file's name otherwise."),
    output: Path = typer.Option(None, help="Write the ensemble to this folder, and open no budget."),
) -> None:
    """Train an ensemble on a user-level corpus and open its budget; run again, it goes on where it was."""
    from core.corpus import load_demo, read_corpus
    from core.curator.job import hold, training_folder
    from core.ensembles import Plan, ServedEnsemble
    from core.lm.finetune import TrainingSettings
    from core.lm.public import load_public
    from core.lm.stack import LoraShape
    from core.store import open_store

    settings, console = load_settings(), Console()
    plan = Plan(
        parts=parts,
        halves=halves,
        epsilon=epsilon,
        alpha=alpha,
        queries=queries,
        protocol=protocol,
        w_max=w_max,
        allowance=allowance,
        whole_passes=whole_passes,
        kept_rank=kept_rank,
        training=TrainingSettings(
            passes=passes,
            batch=batch,
            learning_rate=rate,
            shape=LoraShape(layers=layers, rank=rank, alpha=2.0 * rank),
        ),
    )
    if corpus == DEMO:
        read, called = load_demo(), name or DEMO
    else:
        read = read_corpus(
            Path(corpus),
            user_column=user_column,
            text_column=text_column,
            users="document" if each_document_a_user else "auto",
            synthetic=synthetic,
            name=name,
        )
        called = read.name
    folder, checkpoints = output or ensemble_folder(settings, called), training_folder(settings, called)
    _refuse_unfinished(settings, called)
    with open_store(settings) as store, hold(checkpoints):
        here = _Place(settings, store.ledger, console, called, folder, checkpoints)
        if corpus == DEMO:
            _train_demo(here, read, plan)
        else:
            _train_text(here, read, plan, guarantees_add=guarantees_add, open_budget=output is None)
        shutil.rmtree(checkpoints, ignore_errors=True)
        if output is not None:
            console.print(f"The ensemble is in {folder}.")
            return
        budget = ServedEnsemble(folder, load_public(settings.model, settings)).open_budget(store.ledger)
    console.print(f"{called} is in {folder}. Budget: epsilon {budget.epsilon:g} at alpha {budget.alpha:g}.")


@dataclass(frozen=True)
class _Place:
    """Where a training happens."""

    settings: Settings
    ledger: "Ledger"
    console: Console
    name: str
    folder: Path
    checkpoints: Path


def _train_demo(here: _Place, corpus: "Corpus", plan: "Plan") -> None:
    """The demonstration: nobody is in it, and its key is public."""
    from core.corpus.demo import DEMO_KEY
    from core.ensembles import train_ensemble
    from core.lm.public import load_public

    public = load_public(here.settings.model, here.settings)
    with _bar(here.console) as reached:
        reports = train_ensemble(
            corpus,
            public,
            plan,
            here.folder,
            key=DEMO_KEY,
            checkpoints=here.checkpoints,
            progress=reached,
        )
    _print_reports(here.console, reports)


def _train_text(
    here: _Place, corpus: "Corpus", plan: "Plan", *, guarantees_add: bool, open_budget: bool
) -> None:
    """A text of one's own, under the same checks as on the page."""
    from core.curator.admission import admit
    from core.curator.train import train_admitted
    from core.lm.public import load_public

    admission = admit(here.settings, here.ledger, corpus, plan, here.name, guarantees_add=guarantees_add)
    for note in admission.notes:
        here.console.print(note)
    public = load_public(here.settings.model, here.settings)
    with _bar(here.console) as reached:
        reports = train_admitted(
            replace(admission, folder=here.folder),
            here.settings,
            here.ledger,
            public,
            checkpoints=here.checkpoints,
            open_budget=open_budget,
            progress=reached,
        )
    _print_reports(here.console, reports)


def trainings() -> None:
    """What was begun on the page and is unfinished."""
    from core.context.cadp import kept
    from core.curator.job import read_jobs

    settings = load_settings()
    found, others = read_jobs(settings), kept.read_jobs(settings)
    for job in found:
        typer.echo(f"{job.name}: {job.state}, {job.reached:.0%} done. {job.sentence}".rstrip())
    for other in others:
        typer.echo(f"{other.name}: {other.state}, by CADP. See `python -m core cadp trainings`.")
    if not found and not others:
        typer.echo("Nothing is unfinished.")


def go_on(name: str = typer.Argument(help="The name of an unfinished training.")) -> None:
    """Go on with a training that was begun on the page, from what it reached."""
    from core.studio import Studio

    settings, console = load_settings(), Console()
    job = _unfinished(settings, name)
    studio = Studio(settings)
    try:
        studio.jobs.resume(job.id, session="shell")
        with Progress(*_columns(), console=console) as bar:
            task = bar.add_task("training", total=1.0)
            while not studio.jobs.wait(1.0):
                bar.update(task, completed=studio.jobs.statuses()[0].share)
    finally:
        studio.jobs.close()
    status = studio.jobs.statuses()[0]
    if status.state != "done":
        raise InputError(status.sentence or f"The training of '{name}' is not finished.")
    _print_reports(console, status.reports)


def discard(name: str = typer.Argument(help="The name of an unfinished training.")) -> None:
    """Delete an unfinished training with its text."""
    from core.curator.job import hold, training_folder
    from core.curator.uploads import Uploads

    settings = load_settings()
    job = _unfinished(settings, name)
    with hold(training_folder(settings, name)):
        shutil.rmtree(training_folder(settings, name), ignore_errors=True)
        Uploads(settings).delete(job.upload)
    typer.echo(f"The training of {name} and its text are deleted.")


def rename(
    name: str = typer.Argument(help="The name of a trained ensemble."),
    new: str = typer.Argument(help="What to call it."),
) -> None:
    """Call an ensemble something else; in the ledger its budget keeps its name."""
    from core.store import open_store

    settings = load_settings()
    with open_store(settings) as store:
        entry = rename_ensemble(settings, name, new, budgets=store.ledger.corpora())
    typer.echo(f"{name} is called {entry.name} now; its budget in the ledger is still {entry.corpus}.")


def delete(
    name: str = typer.Argument(help="The name of a trained ensemble."),
    yes: bool = typer.Option(False, "--yes", help="Do not ask."),
) -> None:
    """Delete an ensemble. Its budget stays in the ledger, and its text stays known by keyed fingerprints."""
    if not yes:
        typer.confirm(f"Delete the adapters of {name} for good?", abort=True)
    entry = delete_ensemble(load_settings(), name)
    typer.echo(f"{name} is deleted. The budget {entry.corpus} stays in the ledger.")


def _unfinished(settings: Settings, name: str) -> "Job":
    from core.curator.job import read_jobs

    job = next((job for job in read_jobs(settings) if job.name == name), None)
    if job is None:
        raise InputError(f"There is no unfinished training named {name[:40]!r} here.")
    return job


def _refuse_unfinished(settings: Settings, name: str) -> None:
    from core.curator.job import read_jobs

    if any(job.name == name for job in read_jobs(settings)):
        raise InputError(
            f"The training of '{name}' that was begun on the page is unfinished: go on with it there or with "
            "`python -m core continue`, or discard it."
        )


@contextmanager
def _bar(console: Console) -> "Iterator[Callable[[Reached], None]]":
    """A progress bar, and the function that moves it."""
    with Progress(*_columns(), console=console) as bar:
        task = bar.add_task("training", total=1.0)

        def reached(progress: "Reached") -> None:
            bar.update(task, completed=progress.share, description=f"training, loss {progress.loss:.2f}")

        yield reached


def _columns() -> tuple[ProgressColumn, ...]:
    return TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()


def _print_reports(console: Console, reports: "tuple[AdapterReport, ...]") -> None:
    for report in reports:
        held_out = f", held out {report.validation[report.kept - 1]:.3f}" if report.validation else ""
        loss = f", loss {report.training[-1]:.3f}" if report.training else ""
        console.print(f"{report.name}: {report.tokens:,} tokens{loss}{held_out}")
