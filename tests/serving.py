"""A studio on a free loopback port for the length of a test, in this process or in one of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from gradio import networking
from gradio.routes import App

from app.main import build_demo, launch_options
from core.settings import Settings
from core.studio import Studio

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Served:
    """A running studio."""

    url: str
    studio: Studio
    routes: tuple[str, ...] = ()
    app: App | None = None


@contextmanager
def serve(settings: Settings) -> Iterator[Served]:
    """Serve a studio as app.py does, and close it."""
    studio = Studio(settings)
    demo = build_demo(studio)
    with pytest.MonkeyPatch.context() as patch:
        # Gradio gives up on its own page after 3 seconds; on a busy machine it may take longer.
        patch.setattr(networking, "url_ok", lambda url: True)
        server, url, _ = demo.launch(prevent_thread_lock=True, **launch_options(settings))
    routes = tuple(sorted(set(_paths(server.routes))))
    try:
        yield Served(url.rstrip("/"), studio, routes, server)
    finally:
        demo.close(verbose=False)
        studio.jobs.close()
        if studio.store:
            studio.store.close()


def _paths(routes: Iterable[Any]) -> Iterator[str]:
    """The paths of routes, and of routers among them."""
    for route in routes:
        if getattr(route, "path", None):
            yield route.path
        yield from _paths(getattr(getattr(route, "original_router", None), "routes", ()))


@dataclass(frozen=True)
class Apart:
    """A studio in a process of its own, as `make run` starts it."""

    url: str
    process: psutil.Popen
    log: Path


def environment(settings: Settings) -> dict[str, str]:
    """The variables that make these settings in another process."""
    password = settings.curator_password
    return {
        **os.environ,
        "SUBMIX_DATA_DIR": str(settings.data_dir),
        "SUBMIX_MODEL": settings.model,
        "SUBMIX_QUEUE_SIZE": str(settings.queue_size),
        "SUBMIX_PORT": "0",
        **({} if password is None else {"SUBMIX_CURATOR_PASSWORD": password.get_secret_value()}),
    }


@contextmanager
def serve_apart(settings: Settings, log: Path) -> Iterator[Apart]:
    """Start `app.py` and end it; what it prints is added to the log."""
    with log.open("ab") as out:
        begins = out.tell()
        process = psutil.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=environment(settings),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Apart(_address(process, log, begins), process, log)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(120)


def _address(process: psutil.Popen, log: Path, begins: int) -> str:
    """Where it says that it is, after that place of the log."""
    while True:
        said = log.read_bytes()[begins:].decode("utf-8", "replace")
        for line in said.splitlines(keepends=True):
            if " is at " in line and line.endswith("\n"):
                return line.split()[-1].rstrip("/")
        if process.poll() is not None:
            raise AssertionError(f"the server did not start:\n{said[-3000:]}")
        time.sleep(0.05)
