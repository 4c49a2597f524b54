"""A studio on a free loopback port for the length of a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.main import build_demo, launch_options
from core.settings import Settings
from core.studio import Studio


@dataclass(frozen=True)
class Served:
    """A running studio."""

    url: str
    studio: Studio


@contextmanager
def serve(settings: Settings) -> Iterator[Served]:
    """Serve a studio as app.py does, and close it."""
    studio = Studio(settings)
    demo = build_demo(studio)
    _, url, _ = demo.launch(prevent_thread_lock=True, **launch_options(settings))
    try:
        yield Served(url.rstrip("/"), studio)
    finally:
        demo.close(verbose=False)
        studio.jobs.close()
        if studio.store:
            studio.store.close()
