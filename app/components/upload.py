"""Uploads do not stay in the web server's cache."""

from contextlib import suppress
from pathlib import Path

from gradio.utils import get_upload_folder


def forget_upload(path: str | None) -> None:
    """Delete an upload from the web server's cache, with the folder that was made for it."""
    if path is None or not is_upload(path):
        return
    with suppress(OSError):
        Path(path).unlink(missing_ok=True)
        Path(path).parent.rmdir()


def is_upload(path: str) -> bool:
    """Whether this is a file below the folder that uploads are written to, links followed."""
    with suppress(OSError, ValueError):
        return Path(get_upload_folder()).resolve() in Path(path).resolve().parents
    return False
