"""`python -m core detect` and `python -m core detector`: find sensitive context, and keep the detector."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.context.learning.paraphrase import Paraphraser
    from core.context.learning.train import TrainingPlan

app = typer.Typer(help="Evaluate, train and teach the context detector.", no_args_is_help=True)

Which = Annotated[
    str, typer.Option(help="`shipped`, a saved detector's name, or a fine-tuned model's folder.")
]


def detect(
    file: Annotated[Path, typer.Argument(help="A text file, or - for standard input.")],
    *,
    form: Annotated[str, typer.Option("--format", help="jsonl or csv.")] = "jsonl",
    detector: Which = "shipped",
    threshold: Annotated[
        float | None, typer.Option(help="Flag from this score on; the detector's own if none.")
    ] = None,
    flagged: Annotated[bool, typer.Option(help="Write only the sentences that are flagged.")] = False,
) -> None:
    """Score every sentence of a text: one object a sentence with text, start, end, score and flagged."""
    from core.context import Detector
    from core.context.export import export

    if form not in ("jsonl", "csv"):
        raise InputError(f"The format is jsonl or csv, not {form!r}.")
    text = _read(file)
    found = Detector.load(load_settings(), detector)
    if threshold is not None:
        found = found.at(threshold)
    sentences = found.detect(text)
    kept = [each for each in sentences if each.flagged] if flagged else sentences
    _write(export(kept, form))  # type: ignore[arg-type]
    marked = sum(each.flagged for each in sentences)
    typer.echo(
        f"{marked} of {len(sentences)} sentences flagged, from a score of {found.threshold:.2f} on.", err=True
    )


@app.command()
def evaluate(
    detector: Which = "shipped",
    write: Annotated[bool, typer.Option(help="Write the card to assets, for the shipped detector.")] = True,
    families: Annotated[
        Path | None, typer.Option(help="Evaluate on all families of another folder; nothing is written.")
    ] = None,
) -> None:
    """Print the evaluation card on held-out families; the shipped detector's is also written to assets."""
    from core.context import SHIPPED, Detector
    from core.context.card import card_sentences
    from core.context.evaluate import evaluate as make_card
    from core.context.learning.families import load_families
    from core.context.learning.ship import cross_validated
    from core.context.saved import CARD

    again = cross_validated() if detector == SHIPPED and families is None else None
    others = None
    if families is not None:
        others = [each for family in load_families(families) for each in family.examples()]
    card = make_card(Detector.load(load_settings(), detector), others, cross_validated=again)
    for sentence in card_sentences(card):
        typer.echo(sentence)
    for line in sorted(card.detector.families, key=lambda each: (not each.sensitive, each.family)):
        kind = "sensitive" if line.sensitive else "harmless"
        typer.echo(f"  {kind:<9}  {line.flagged:3} of {line.of:3} flagged  {line.family}")
    if write and detector == SHIPPED and families is None:
        CARD.write_text(card.to_json(), encoding="utf-8")
        typer.echo(f"The card is in {CARD}.", err=True)


@app.command()
def train(
    *,
    folds: Annotated[int, typer.Option(help="Folds of families for the threshold.")] = 5,
    epochs: Annotated[int, typer.Option(help="Passes over the training sentences; 0 for the usual.")] = 0,
    paraphrase: Annotated[
        str,
        typer.Option(help="Other words by: none, thesaurus, auto (Apertium if installed), or a T5 model."),
    ] = "none",  # what ships was trained without; its effect alone is not measured
    model: Annotated[
        str, typer.Option(help="Fine-tune this transformer instead, such as distilbert-base-uncased.")
    ] = "",
    name: Annotated[str, typer.Option(help="What to save the fine-tuned transformer under.")] = "",
) -> None:
    """Rebuild the shipped head from the written families, or fine-tune a transformer on them.

    The second look, which takes longer, is rebuilt by `detector train-second`, before this.
    """
    from core.context.learning.paraphrase import paraphraser_named
    from core.context.learning.train import TrainingPlan

    settings, paraphraser = load_settings(), paraphraser_named(paraphrase)
    if not model:
        _rebuild(settings, folds, TrainingPlan(epochs=epochs or TrainingPlan.epochs), paraphraser)
        return
    from core.context.classifier import FineTuning, fine_tune
    from core.context.learning.families import load_families
    from core.context.learning.widen import targets
    from core.context.saved import save_detector

    if not name:
        raise InputError("A fine-tuned transformer needs a --name to be saved under.")
    families = [family for family in load_families() if family.split == "train"]
    found = fine_tune(
        model, targets(families, paraphraser=paraphraser), FineTuning(epochs=epochs or FineTuning.epochs)
    )
    typer.echo(f"Saved in {save_detector(found, name, settings)}.")


@app.command("train-second")
def train_second(
    epochs: Annotated[int, typer.Option(help="Passes over the training sentences; 0 for the usual.")] = 0,
) -> None:
    """Rebuild the second look: adapters on the embedded language model; half an hour on two cores."""
    from core.context.learning.families import load_families
    from core.context.learning.second_training import SecondPlan
    from core.context.learning.second_training import train_second as train
    from core.context.saved import SECOND
    from core.context.second import save_second
    from core.lm.public import load_public
    from core.settings import EMBEDDED

    families = [family for family in load_families() if family.split == "train"]
    found = train(
        families,
        load_public(EMBEDDED, load_settings()),
        SecondPlan(epochs=epochs or SecondPlan.epochs),
        said=lambda line: typer.echo(line, err=True),
    )
    save_second(SECOND, found.adapters, found.judgement, found.about)
    typer.echo(f"The second look is in {SECOND}; `detector train` learns how it goes with the head.")


@app.command()
def teach(
    name: Annotated[str, typer.Argument(help="Save the taught detector under this name.")],
    *,
    sensitive: Annotated[list[str], typer.Option(help="A sensitive sentence; may be given often.")] = [],  # noqa: B006
    harmless: Annotated[list[str], typer.Option(help="A harmless sentence; may be given often.")] = [],  # noqa: B006
    sensitive_file: Annotated[Path | None, typer.Option(help="Sensitive sentences, one a line.")] = None,
    harmless_file: Annotated[Path | None, typer.Option(help="Harmless sentences, one a line.")] = None,
    base: Which = "shipped",
) -> None:
    """Teach a detector with sentences of one's own and save it under a name."""
    from core.context import Detector
    from core.context.evaluate import evaluate as make_card
    from core.context.learning.teach import teach as learn
    from core.context.saved import save_detector

    settings = load_settings()
    before = Detector.load(settings, base)
    taught = learn(before, [*sensitive, *_lines(sensitive_file)], [*harmless, *_lines(harmless_file)])
    folder = save_detector(taught.detector, name, settings)
    for text in taught.not_learned:
        typer.echo(f"Not learned: {text}")
    old, new = make_card(before).detector, make_card(taught.detector).detector
    typer.echo(
        f"On held-out families: recall {old.recall.value:.1%} before, {new.recall.value:.1%} now; "
        f"false positives {old.false_positives.value:.1%} before, {new.false_positives.value:.1%} now."
    )
    typer.echo(f"Saved in {folder}.")


@app.command("list")
def show() -> None:
    """The detectors that can be used."""
    from core.context.saved import saved_names

    for name in ("shipped", *saved_names(load_settings())):
        typer.echo(name)


def _rebuild(settings: Settings, folds: int, plan: "TrainingPlan", paraphraser: "Paraphraser | None") -> None:
    from core.context.learning.ship import rebuild
    from core.context.saved import HEAD, shipped_second

    built = rebuild(
        settings,
        plan=plan,
        second=shipped_second(settings.cache_dir),
        folds=folds,
        paraphraser=paraphraser,
        said=lambda line: typer.echo(line, err=True),
    )
    found = built.cross_validated
    typer.echo(
        f"Cross-validated over families: recall {found.recall.value:.1%}, "
        f"false positives {found.false_positives.value:.1%}. The head is in {HEAD}."
    )


def _read(file: Path) -> str:
    """A text file in any encoding that can be told, with its line ends as they are."""
    from core.corpus.encoding import detect as encoding_of

    if str(file) == "-":
        return sys.stdin.read()
    try:
        with file.open("rb") as stream:
            codec = encoding_of(stream, file.name).codec
            return stream.read().decode(codec)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error


def _lines(file: Path | None) -> list[str]:
    return [line for line in _read(file).splitlines() if line.strip()] if file else []


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line)
    sys.stdout.flush()
