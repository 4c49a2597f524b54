"""The log as a file for the browser to fetch."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gradio as gr

from app.refusal import refusal
from core.errors import StudioError
from core.store import Event, EventFilter, ExportFormat, export
from core.studio import Studio


def written(form: ExportFormat, studio: Studio, query: EventFilter, curator: bool) -> Iterator[str]:
    """The path of the export. Gradio copies the file when it is yielded; ours is deleted."""
    if studio.store is None:
        raise gr.Error(studio.store_problem, print_exception=False)
    with tempfile.TemporaryDirectory(prefix="studio-log-") as folder:
        path = Path(folder) / f"session-log.{form}"
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                events = studio.store.log.stream(**query)
                file.writelines(export(events if curator else _without_costs(events), form))
        except StudioError as error:
            raise refusal(error) from error
        yield str(path)


def _without_costs(events: Iterator[Event]) -> Iterator[Event]:
    """A cost is a function of private text: it leaves to the curator alone."""
    for event in events:
        yield replace(event, cost=None)
