"""`python -m core cadp`: train a model with DP-SGD on what is flagged, and read its card."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from core.context.flags import MECHANISMS
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.context.cadp_card import Recall
    from core.context.cadp_plan import CadpProgress
    from core.context.flags import Flagger

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
    """Train on a corpus: DP-SGD on what is flagged, plain updates on the rest; then print the card."""
    from core.context.cadp_files import save_cadp
    from core.context.cadp_job import cadp_folder
    from core.context.cadp_model import Recipe, train_cadp
    from core.corpus import load_demo, read_corpus
    from core.lm.public import load_public
    from core.lm.stack import LoraShape

    settings, console = load_settings(), Console()
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
    flagger, recall = _flags(recipe.mechanism, detector, formats, settings)
    public = load_public(settings.model, settings)
    called = name or read.name
    folder = output or cadp_folder(settings, called)
    checkpoints = settings.data_dir / "cadp-training" / called  # a second call goes on from the first
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("reading", total=1.0)

        def reached(progress: "CadpProgress") -> None:
            bar.update(task, completed=progress.share, description=_described(progress))

        trained = train_cadp(
            read, public, recipe, flagger, recall=recall, checkpoints=checkpoints, progress=reached
        )
    save_cadp(folder, trained, public)
    shutil.rmtree(checkpoints, ignore_errors=True)
    for sentence in trained.card.sentences():
        console.print(sentence, highlight=False, soft_wrap=True)
    console.print(f"The model is in {folder}.", highlight=False, soft_wrap=True)


@app.command()
def card(
    model: Annotated[str, typer.Argument(help="The name of a trained model, or its folder.")],
) -> None:
    """What is guaranteed about a trained model, and what is not."""
    from core.context.cadp_files import read_card
    from core.context.cadp_job import cadp_folder

    folder = Path(model) if Path(model).is_dir() else cadp_folder(load_settings(), model)
    for sentence in read_card(folder).sentences():
        print(sentence)


def _flags(
    mechanism: Any, detector: str, formats: Any, settings: Settings
) -> "tuple[Flagger, Recall | None]":
    """The flags of a mechanism, and for the context detector its recall on held-out families."""
    from core.context.cadp_job import flags_for
    from core.context.detector import Detector
    from core.context.flags import flagger_for

    if mechanism == "s-dpsgd":
        return flagger_for(mechanism, formats=formats), None
    return flags_for(mechanism, lambda: Detector.load(settings, detector))


def _described(progress: "CadpProgress") -> str:
    if progress.stage == "reading":
        return "reading"
    loss = "" if progress.loss is None else f", loss {progress.loss:.2f}"
    return f"step {progress.step} of {progress.steps}{loss}, epsilon {progress.epsilon:.2f}"


def _one_of(value: str, known: tuple[str, ...], what: str) -> Any:
    if value not in known:
        raise InputError(f"The {what} is one of {', '.join(known)} (it is {value!r}).")
    return value
