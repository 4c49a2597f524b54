"""`python -m core corpus`: look at a corpus before training, and rebuild the synthetic one."""

from pathlib import Path
from typing import Annotated

import typer

from core.corpus import (
    Corpus,
    Limits,
    build_demo,
    load_demo,
    new_key,
    partition_corpus,
    read_corpus,
    report_corpus,
    report_sentences,
)
from core.corpus.demo import DEMO_KEY, FOLDER, SEED
from core.corpus.limits import MEGABYTE
from core.curator.guidance import guide
from core.errors import InputError

app = typer.Typer(
    help="Read, report and split corpora; rebuild the synthetic demo corpus.", no_args_is_help=True
)


@app.command()
def report(
    file: Annotated[
        Path | None, typer.Argument(help="Text, CSV, JSON Lines, Parquet or a zip of text; the demo if none.")
    ] = None,
    *,
    parts: Annotated[int | None, typer.Option(help="Also split by user into this many parts.")] = None,
    halves: Annotated[bool, typer.Option(help="Split each part into two halves.")] = False,
    user_column: Annotated[str | None, typer.Option(help="The column that tells users apart.")] = None,
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    each_document_a_user: Annotated[
        bool, typer.Option(help="Declare that no two documents are from the same user.")
    ] = False,
    max_mb: Annotated[int, typer.Option(min=1, help="The largest file that is read, in MB.")] = 64,
) -> None:
    """Say what a corpus holds: users, documents, length, repetitions, what was dropped and why."""
    if file is None:
        corpus, key = load_demo(), DEMO_KEY
    else:
        corpus = read_corpus(
            file,
            user_column=user_column,
            text_column=text_column,
            users="document" if each_document_a_user else "auto",
            limits=Limits(file_bytes=max_mb * MEGABYTE),
        )
        key = new_key()
    partition = partition_corpus(corpus, parts, key=key, halves=halves) if parts is not None else None
    for sentence in report_sentences(report_corpus(corpus, partition=partition)):
        print(sentence)
    if file is not None:
        print(_how_many_parts(corpus, key, halves=halves))
    if partition is not None and file is not None:
        print("The split is by a key made for this report; training makes its own.")


def _how_many_parts(corpus: Corpus, key: bytes, *, halves: bool) -> str:
    """The page's advice, or why the corpus cannot be split."""
    try:
        return guide(corpus, key=key, halves=halves).advice
    except InputError as error:
        return str(error)


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="The folder to write to.")] = FOLDER,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal files, byte for byte.")] = SEED,
) -> None:
    """Write the synthetic ward notes, their planted secrets and the example prompts."""
    print(f"Wrote {build_demo(output, seed=seed)} and the files beside it.")
