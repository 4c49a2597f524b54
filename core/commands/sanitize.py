"""`python -m core sanitize` and `calibrate`: perturb files, and see what an epsilon means."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.sanitize import FileProgress, FileReport, Policy

MDP, SMDP = "mdp", "smdp"

Epsilon = Annotated[float, typer.Option(help="Noise for each word: small is private, large is readable.")]
Noise = Annotated[str, typer.Option(help="euclidean (the paper's), mahalanobis or tem.")]
VectorsName = Annotated[
    str | None, typer.Option(help="Word vectors: `embedded`, a file, or a name from gensim-data.")
]


def sanitize(
    file: Annotated[Path, typer.Argument(help="Text, CSV, JSON Lines, or a zip of text files.")],
    *,
    output: Annotated[Path, typer.Option(help="The file to write; it appears when all is done.")],
    mechanism: Annotated[
        str, typer.Option(help="mdp perturbs every word, smdp what the policy says.")
    ] = SMDP,
    policy: Annotated[
        str | None, typer.Option(help="For smdp, with commas: digits, patterns, own, context. [digits]")
    ] = None,
    epsilon: Epsilon = 12.0,
    noise: Noise = "euclidean",
    column: Annotated[
        str | None, typer.Option("--column", "--field", help="The CSV column or JSON field with the text.")
    ] = None,
    consistent: Annotated[bool, typer.Option(help="Equal words of a document share one draw.")] = False,
    own_words: Annotated[
        Path | None, typer.Option(help="A file of words, phrases and /expressions/, one on each line.")
    ] = None,
    vectors: VectorsName = None,
) -> None:
    """Sanitise a file with MDP or SMDP; ends with code 1 when a row could not be sanitised."""
    from core.sanitize import load_vocabulary, make_mechanism, sanitize_file
    from core.sanitize.facts import facts
    from core.sanitize.noise import check_epsilon

    settings = load_settings()
    check_epsilon(epsilon)
    chosen = _policy(mechanism, policy, own_words, settings)
    vocabulary = load_vocabulary(vectors or settings.vectors, settings)
    perturbs = make_mechanism(noise, vocabulary, epsilon)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("sanitising", total=1.0)

        def reached(progress: "FileProgress") -> None:
            bar.update(task, completed=progress.share, description=f"sanitising, {progress.words:,} words")

        report = sanitize_file(
            file, output, perturbs, chosen, column=column, consistent=consistent, progress=reached
        )
    for sentence in (*report.notes, *facts(report, perturbs, chosen, consistent=consistent)):
        print(sentence)
    _say_failures(report)


def _policy(mechanism: str, names: str | None, own_words: Path | None, settings: Settings) -> "Policy":
    from core.sanitize import AllWords, parse_policies

    if mechanism == MDP:
        if names or own_words:
            raise InputError("MDP perturbs every word and takes no policy; use --mechanism smdp.")
        return AllWords()
    if mechanism != SMDP:
        raise InputError(f"There is no mechanism called {mechanism[:40]!r}; there are {MDP} and {SMDP}.")
    own = None if own_words is None else _lines(own_words)
    names = names or ("own" if own is not None else "digits")
    detector = None
    if "context" in names.lower().split(","):
        from core.context.detector import Detector

        detector = Detector.load(settings)
    return parse_policies(names, own=own, detector=detector)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text.") from error


def _say_failures(report: "FileReport") -> None:
    if not report.failed:
        print(f"Wrote {report.output}.")
        return
    for failure in report.failures:
        typer.echo(f"Not sanitised: {failure.place}: {failure.reason}.", err=True)
    if report.failed > len(report.failures):
        typer.echo(f"... and {report.failed - len(report.failures):,} more.", err=True)
    print(
        f"Wrote {report.output}. {report.failed:,} of {report.rows:,} could not be sanitised: "
        "placeholders stand for them, and the input has them."
    )
    raise typer.Exit(1)


def calibrate(
    *,
    epsilon: Epsilon = 12.0,
    deniability: Annotated[
        float | None, typer.Option(help="Find the epsilon at which words change with this chance, e.g. 0.9.")
    ] = None,
    noise: Noise = "euclidean",
    words: Annotated[
        str | None, typer.Option(help="Words to look at, with commas; common ones if none.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=100_000, help="Draws for each word.")] = 100,
    vectors: VectorsName = None,
) -> None:
    """How often a word stays itself at an epsilon and how many words it becomes, or the other way round."""
    from core.sanitize import calibrate as calibrated
    from core.sanitize import epsilon_for, load_vocabulary, make_mechanism

    settings = load_settings()
    vocabulary = load_vocabulary(vectors or settings.vectors, settings)
    sample = [word.strip() for word in words.split(",") if word.strip()] if words else None
    if deniability is not None:
        epsilon = epsilon_for(vocabulary, deniability, noise=noise, words=sample)
        print(
            f"At epsilon {epsilon:.3g} a word becomes another one with chance {deniability:.0%}, on average."
        )
    found = calibrated(make_mechanism(noise, vocabulary, epsilon), words=sample, draws=draws)
    low, high = found.stays_interval
    print(
        f"At epsilon {epsilon:.4g} a word stays itself with chance {found.stays:.1%} "
        f"(95 % interval {low:.1%} to {high:.1%}, {len(found.words)} words, {draws} draws each)."
    )
    print(f"In {draws} draws a word becomes {found.distinct:.1f} different words, itself included.")
    for word in found.words if sample else ():
        print(f"  {word.word}: stays {word.stays:.0%}, {word.distinct} different words")
