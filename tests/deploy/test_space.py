"""A Hugging Face Space, rehearsed: its own start, its user, its ephemeral disk, server-side rendering."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PASSWORD, browser, screenshot  # noqa: F401 - the fixtures
from tests.deploy.conftest import Fresh, free_port, owned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


def space(fresh: Fresh, port: int, home: Path) -> dict[str, str]:
    """What a Space sets, but for listening on this machine alone and for temporary files of its own."""
    return {
        "TMPDIR": str(owned(home / "tmp")),
        "SPACE_ID": "someone/submix-studio",
        "SYSTEM": "spaces",
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SSR_MODE": "true",
        "GRADIO_NODE_PATH": str(fresh.node),
        "SUBMIX_PORT": str(port),
        "SUBMIX_CURATOR_PASSWORD": PASSWORD,
    }


def train_private_text(page: Page, url: str, folder: Path) -> None:
    """As a curator: upload notes that are not declared synthetic, and ask for training."""
    rows = [{"patient": f"p{number}", "note": f"Note {number}: the patient slept."} for number in range(12)]
    path = folder / "notes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page.goto(f"{url}/?panel=corpora")
    page.get_by_text("Curator", exact=True).click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.set_input_files("#corpus-file input[type=file]", path)
    expect(page.locator("#corpus-report .tiles")).to_be_visible(timeout=900_000)
    page.click("#train")


def test_a_space_brings_its_models_in_sight_answers_and_refuses_private_text(
    fresh: Fresh,
    browser: Browser,  # noqa: F811
    screenshot: Callable[[Page, str], None],  # noqa: F811
    tmp_path: Path,
) -> None:
    port, home = free_port(), owned(fresh.project.parent / "space-home")
    command, environment = [str(fresh.python), "app.py"], space(fresh, port, home)
    with fresh.running(command, home, port, environment) as url:
        page = browser.new_page()
        page.set_default_timeout(900_000)
        page.goto(f"{url}/?length=8")
        expect(page.locator("#arriving .progress")).to_be_visible(timeout=900_000)  # not a blank screen
        screenshot(page, "space-arriving")
        expect(page.locator("#arriving .progress")).not_to_be_visible(timeout=1_200_000)
        screenshot(page, "space-ready")
        page.click("#generate")
        expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=900_000)
        train_private_text(page, url, tmp_path)
        expect(page.get_by_text("forgets its disk").first).to_be_visible(timeout=900_000)
        screenshot(page, "space-refused")
        page.close()
    again = owned(fresh.project.parent / "space-again")  # a restart has an empty disk
    lasting = {"SUBMIX_DATABASE_URL": f"sqlite:///{again}/lasting.db"}
    with fresh.running(command, again, port, {**space(fresh, port, again), **lasting}) as url:
        page = browser.new_page()
        page.set_default_timeout(900_000)
        train_private_text(page, url, tmp_path)
        expect(page.locator("#training h2")).to_contain_text("Trained", timeout=900_000)
        screenshot(page, "space-trained")
        page.close()
