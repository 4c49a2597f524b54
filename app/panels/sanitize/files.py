"""Rewriting a file: with progress, a way to stop, and a download at the end."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.components.upload import forget_upload, is_upload
from app.components.working import Working
from app.panels.sanitize.filed import file_progress_html, report_html
from app.panels.sanitize.handlers import Handlers, asked_from
from core.errors import InputError, StudioError
from core.sanitize import FileProgress, FileReport, sanitize_file
from core.sanitize.facts import facts
from core.sanitizing import Asked

_MEGABYTE = 1_000_000


class FileHandlers:
    """The handlers of the files below the text."""

    def __init__(self, does: Handlers) -> None:
        self._does = does

    def rewrite(
        self,
        path: str | None,
        column: str,
        chips: list[str],
        own: str,
        step: float,
        noise: str,
        consistent: bool,
        detector: Any,
        request: gr.Request,
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Said, download and upload. The server keeps neither the upload nor a copy of its own."""
        folder = Path(tempfile.mkdtemp(prefix="studio-sanitize-"))
        try:
            with self._does.noted(request, "sanitize file"):
                if path is None or not is_upload(path):
                    raise InputError("Choose a file first.")
                asked = asked_from(chips, own, step, noise, consistent, detector)
                yield from self._rewritten(Path(path), folder, column, asked, request)
            forget_upload(path)
        except StudioError as error:
            yield notice(str(error), kind="problem"), gr.update(visible=False), gr.skip()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _rewritten(
        self, path: Path, folder: Path, column: str, asked: Asked, request: gr.Request
    ) -> Iterator[tuple[Any, Any, Any]]:
        sanitizer, output = self._does.sanitizer, folder / f"{path.stem}-sanitised{path.suffix}"
        policy = sanitizer.policy(asked.policies, asked.own, asked.detector)
        mechanism = sanitizer.mechanism(asked.noise, asked.epsilon)
        with self._does.stoppable(request) as stop:
            work = Working[FileProgress, FileReport](
                lambda progress, cancelled: sanitize_file(
                    path,
                    output,
                    mechanism,
                    policy,
                    column=(column or "").strip() or None,
                    consistent=asked.consistent,
                    progress=progress,
                    cancelled=cancelled,
                    largest=self._does.studio.settings.max_upload_mb * _MEGABYTE,
                ),
                stop,
            )
            for progress in work:
                yield file_progress_html(progress), gr.update(visible=False), gr.skip()
            report = work.result
        sentences = facts(report, mechanism, policy, consistent=asked.consistent)
        download = gr.DownloadButton(f"Download {output.name}", value=str(output), visible=True)
        yield report_html(path.name, report, sentences), download, None
