"""A studio on a free loopback port for the length of a test."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from gradio import networking

from app.main import build_demo, launch_options
from core.settings import Settings
from core.studio import Studio


@dataclass(frozen=True)
class Served:
    """A running studio."""

    url: str
    studio: Studio
    routes: tuple[str, ...] = ()


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
        yield Served(url.rstrip("/"), studio, routes)
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
