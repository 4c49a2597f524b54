"""`python -m core cadp`: train a model with DP-SGD on what is flagged, go on with it, and read its card."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from core.context.cadp.flags import MECHANISMS
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.context.cadp.job import CadpJobs
    from core.context.cadp.kept import CadpJob
    from core.context.cadp.status import CadpStatus

app = typer.Typer(help="Train with privacy for what is sensitive in context (CADP).", no_args_is_help=True)


@app.command()
def train(
    corpus: Annotated[str, typer.Argument(help="A text, CSV, JSONL, Parquet or zip file, or `demo`.")],
    *,
    epsilon: Annotated[float, typer.Option(help="What each flagged sequence may spend.")] = 8.0,
    delta: Annotated[float, typer.Option(help="Below 1 over the number of flagged sequences.")] = 1e-5,
    noise: Annotated[float | None, typer.Option(help="The noise multiplier, in place of epsilon.")] = None,
    mechanism: Annotated[str, typer.Option(help="cadp, s-dpsgd, dp-sgd or none.")] = "cadp",
    formats: Annotated[str, typer.Option(help="What S-DPSGD flags: digits or patterns.")] = "digits",
    detector: Annotated[
        str, typer.Option(help="The context detector: `shipped`, or a saved one.")
    ] = "shipped",
    model: Annotated[str, typer.Option(help="adapters (of the public model) or lstm.")] = "adapters",
    passes: Annotated[float, typer.Option(help="Passes over the text.")] = 3.0,
    batch: Annotated[int, typer.Option(help="Sequences in a batch, on average.")] = 32,
    length: Annotated[int, typer.Option(help="Tokens in a sequence, at most.")] = 64,
    clip: Annotated[float, typer.Option(help="The largest norm of a flagged sequence's gradient.")] = 0.05,
    learning_rate: Annotated[float | None, typer.Option(help="Otherwise what suits the model.")] = None,
    sgd: Annotated[bool, typer.Option(help="SGD in turns, as in the paper; needs a learning rate.")] = False,
    layers: Annotated[int, typer.Option(help="How many of the model's top layers learn.")] = 8,
    rank: Annotated[int, typer.Option(help="The rank of the adapter.")] = 8,
    merge_copies: Annotated[
        bool, typer.Option(help="Learn from flagged copies, word for word, as one.")
    ] = True,
    synthetic: Annotated[bool, typer.Option(help="Declare that nobody in the corpus exists.")] = False,
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    name: Annotated[
        str | None, typer.Option(help="What to call the model; the file's name otherwise.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The folder to write to.")] = None,
) -> None:
    """Train on a corpus: DP-SGD on what is flagged, plain updates on the rest; then print the card.

    Ctrl-C stops at the next step. What was reached is kept, and `cadp continue` goes on from there.
    """
    from core.context.cadp.model import Recipe
    from core.context.detector import Detector
    from core.corpus import load_demo, read_corpus
    from core.lm.stack import LoraShape

    settings = load_settings()
    read = (
        load_demo()
        if corpus == "demo"
        else read_corpus(Path(corpus), text_column=text_column, synthetic=synthetic, name=name)
    )
    given: dict[str, Any] = {"learning_rate": learning_rate} if learning_rate is not None else {}
    if sgd and learning_rate is None:
        raise InputError("SGD needs a learning rate of its own, such as --learning-rate 10 for the LSTM.")
    if sgd:
        given |= {"optimizer": "sgd", "updates": "in turn"}
    recipe = Recipe.of(
        _one_of(mechanism, MECHANISMS, "mechanism"),
        _one_of(model, ("adapters", "lstm"), "model"),
        shape=LoraShape(layers=layers, rank=rank, alpha=2.0 * rank),
        epsilon=epsilon,
        delta=delta,
        noise=noise,
        passes=passes,
        batch=batch,
        length=length,
        clip=clip,
        merge_copies=merge_copies,
        **given,
    )
    jobs = _jobs(settings)
    jobs.start(
        read,
        recipe,
        lambda: Detector.load(settings, detector),
        formats=_one_of(formats, ("digits", "patterns"), "format"),
        name=name or read.name,
        output=str(output.resolve()) if output else "",
    )
    _watch(jobs, settings, output)


@app.command()
def trainings() -> None:
    """What is unfinished: begun here or on the page, and stopped."""
    from core.context.cadp.kept import read_jobs
    from core.context.cadp.status import status_of

    settings = load_settings()
    found = [status_of(settings, job) for job in read_jobs(settings)]
    for status in found:
        spent = f", epsilon {status.epsilons[-1][1]:.2f}" if status.epsilons else ""
        reached = f"{status.share:.0%} done, {status.step:,} of {status.steps:,} steps{spent}"
        print(f"{status.name}: {status.state}, {reached}. {status.sentence}".rstrip())
    if not found:
        print("Nothing is unfinished.")


@app.command("continue")
def go_on(name: Annotated[str, typer.Argument(help="The name of an unfinished training.")]) -> None:
    """Go on with a training from what it reached; its privacy account goes on with it."""
    settings = load_settings()
    job, jobs = _unfinished(settings, name), _jobs(settings)
    jobs.resume(job.id)
    _watch(jobs, settings, Path(job.output) if job.output else None)


@app.command()
def discard(name: Annotated[str, typer.Argument(help="The name of an unfinished training.")]) -> None:
    """Delete an unfinished training with its copy of the text; nothing of it has left."""
    settings = load_settings()
    _jobs(settings).discard(_unfinished(settings, name).id)
    print(f"The training of {name} and its copy of the text are deleted.")


@app.command()
def card(
    model: Annotated[str, typer.Argument(help="The name of a trained model, or its folder.")],
) -> None:
    """What is guaranteed about a trained model, and what is not."""
    from core.context.cadp.files import read_card
    from core.context.cadp.saved import cadp_folder

    folder = Path(model) if Path(model).is_dir() else cadp_folder(load_settings(), model)
    for sentence in read_card(folder).sentences():
        print(sentence)


def _jobs(settings: Settings) -> "CadpJobs":
    from core.context.cadp.job import CadpJobs
    from core.lm.public import load_public

    return CadpJobs(settings, lambda: load_public(settings.model, settings))


def _unfinished(settings: Settings, name: str) -> "CadpJob":
    from core.context.cadp.kept import read_jobs

    job = next((job for job in read_jobs(settings) if job.name == name), None)
    if job is None:
        raise InputError(f"There is no unfinished training named {name[:40]!r} here.")
    return job


def _watch(jobs: "CadpJobs", settings: Settings, output: Path | None) -> None:
    """Show how far a training is until it ends, and then its card, or why there is none."""
    from core.context.cadp.saved import cadp_folder

    console = Console()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), console=console
    ) as bar:
        task = bar.add_task("loading", total=1.0)
        while not _ended(jobs):
            if status := jobs.status():
                bar.update(task, completed=status.share, description=_described(status))
    status = jobs.status()
    assert status is not None
    if status.card is None:
        raise InputError(_unfinished_words(status))
    for sentence in status.card.sentences():
        console.print(sentence, highlight=False, soft_wrap=True)
    folder = output or cadp_folder(settings, status.name)
    console.print(f"The model is in {folder}.", highlight=False, soft_wrap=True)


def _ended(jobs: "CadpJobs") -> bool:
    """Wait a moment; whether it is over. Ctrl-C asks it to stop, which takes until the next step."""
    try:
        return jobs.wait(0.5)
    except KeyboardInterrupt:
        with suppress(InputError):  # it may have ended by itself
            jobs.cancel()
        return jobs.wait()


def _unfinished_words(status: "CadpStatus") -> str:
    if not status.kept:
        return status.sentence or "The training was stopped before it had learned anything; nothing is kept."
    said = f"{status.sentence} " if status.sentence else ""
    return (
        f"{said}The training of '{status.name}' is unfinished, {status.share:.0%} done. `python -m core cadp "
        "continue` with its name goes on, `cadp discard` deletes it."
    )


def _described(status: "CadpStatus") -> str:
    if status.state != "training":
        return status.state
    loss = f", loss {status.losses[-1][1]:.2f}" if status.losses else ""
    epsilon = f", epsilon {status.epsilons[-1][1]:.2f}" if status.epsilons else ""
    left = "" if status.seconds_left is None else f", {status.seconds_left:,.0f} s left"
    return f"step {status.step:,} of {status.steps:,}{loss}{epsilon}{left}"


def _one_of(value: str, known: tuple[str, ...], what: str) -> Any:
    if value not in known:
        raise InputError(f"The {what} is one of {', '.join(known)} (it is {value!r}).")
    return value
