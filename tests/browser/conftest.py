"""A real browser on a real server. Screenshots go to the folder in STUDIO_SCREENSHOTS, if it is set."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from core.settings import EMBEDDED, Settings
from tests.serving import Served, serve

PASSWORD = "correct horse"
expect.set_options(timeout=120_000)  # two cores may be busy with the other tests
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desktop": (1280, 860), "phone": (360, 740)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "No Chromium here: `make browser` installs it."
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The application as a newcomer gets it, on the embedded model."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=EMBEDDED,
        port=0,
        curator_password=PASSWORD,
    )
    with serve(settings) as running:
        running.studio.warm_up().join()
        yield running


@pytest.fixture(scope="module", autouse=True)
def own_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Other tests that run beside these leave files of their own in the usual folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        yield


@pytest.fixture
def open_page(browser: Browser, served: Served) -> Iterator[Callable[..., Page]]:
    """Opens pages that fail the test on a script error or a request that leaves the host."""
    contexts, problems = [], []

    def open_at(path: str = "/", *, size: str = "desktop", scheme: str = "light") -> Page:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,  # type: ignore[arg-type]
            permissions=["clipboard-read", "clipboard-write"],
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("request", lambda request: problems.extend(_elsewhere(request.url, served.url)))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(served.url + path + ("&" if "?" in path else "?") + f"__theme={scheme}")
        page.wait_for_selector("html[data-view=set]")  # what the address says has been set
        return page

    yield open_at
    found = list(problems)  # what breaks off when a page is closed is no problem of the page
    for context in contexts:
        context.close()
    assert found == []


def _elsewhere(url: str, home: str) -> list[str]:
    return [] if url.startswith((home, "data:", "blob:")) else [url]


@pytest.fixture
def screenshot() -> Callable[[Page, str], None]:
    """Keeps a picture where STUDIO_SCREENSHOTS says; the README's pictures are made this way."""

    def keep(page: Page, name: str) -> None:
        folder = os.environ.get("STUDIO_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.mouse.move(0, 0)
            page.wait_for_timeout(400)
            page.screenshot(path=f"{folder}/{name}.png")

    return keep
