"""Your own text in a browser: from an upload to an answer, on a tiny model so that it takes seconds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from core.settings import Settings
from tests.app.payloads import PAYLOADS
from tests.browser import seeing
from tests.browser.conftest import PASSWORD
from tests.browser.seeing import serious, sideways
from tests.serving import Served, serve

HOSTILE = "<img src=x onerror=window.pwned=1>${window.pwned=1}{{x}}"


@pytest.fixture(scope="module")
def served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A studio with nothing trained yet."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        port=0,
        curator_password=PASSWORD,
    )
    with serve(settings) as running:
        running.studio.warm_up().join()
        yield running


def write(path: Path, users: int, words: int) -> Path:
    rows = [
        {"patient": f"{HOSTILE} {number}", "note": f"Note {number}: " + "the patient slept well. " * words}
        for number in range(users)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sign_in(page: Page) -> None:
    seeing.sign_in(page)
    expect(page.locator("#corpus-file")).to_be_visible()


def upload(page: Page, path: Path) -> None:
    page.set_input_files("#corpus-file input[type=file]", path)
    expect(page.locator("#corpus-report .tiles")).to_be_visible()
    expect(page.locator("#training-estimate")).to_contain_text("Training takes")


def test_upload_to_answer(open_page, served, tmp_path, screenshot):
    page = open_page("/?panel=corpora")
    expect(page.locator("#corpora-gate")).to_contain_text("sign in at the foot")
    expect(page.locator("#corpus-file")).to_be_hidden()
    sign_in(page)
    upload(page, write(tmp_path / f"{HOSTILE.replace('/', '')}.jsonl", 12, 2))
    assert "window.pwned" in page.inner_text("#corpus-said")  # shown as it is, and not run
    assert "window.pwned" in page.inner_text("#corpus-report")
    page.locator("#corpus-name").get_by_role("textbox").fill("my ward")
    page.click("#train")
    expect(page.locator("#training h2")).to_contain_text("my ward: Trained", timeout=120_000)
    expect(page.locator("#ensembles table")).to_contain_text("my ward")
    assert page.evaluate("window.pwned") is None
    screenshot(page, "corpora-done")
    page.get_by_role("link", name="Open in Predict").click()
    expect(page.get_by_role("tab", name="Predict")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#corpus input")).to_have_value("my ward")
    page.fill("#prompt textarea", "Note 3: the patient")
    page.click("#generate")
    expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=120_000)
    assert served.studio.ledger.budget("my ward").used > 0


def test_a_training_is_found_again_after_a_reload_stopped_and_discarded(
    open_page, served, tmp_path, screenshot
):
    page = open_page("/?panel=corpora")
    sign_in(page)
    upload(page, write(tmp_path / "long.jsonl", 60, 1500))  # still at it after a reload and a picture
    page.click("#train")
    expect(page.locator("#training-stop")).to_be_visible()
    page.reload()
    expect(page.locator("#training h2")).to_contain_text("long:", timeout=60_000)
    expect(page.locator("#corpus-file")).to_be_hidden()  # one training at a time
    assert page.locator("#training [role=progressbar]").get_attribute("aria-valuenow") is not None
    screenshot(page, "corpora-training")
    page.click("#training-stop")
    expect(page.locator("#training h2")).to_contain_text("long: Stopped", timeout=60_000)
    expect(page.locator("#training-continue")).to_be_visible()
    page.click("#training-discard")
    expect(page.locator("#corpus-file")).to_be_visible()
    data = served.studio.settings.data_dir
    assert [
        path for name in ("uploads", "training") for path in (data / name).rglob("*") if path.is_file()
    ] == []


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_the_panel_fits_and_axe_finds_nothing_serious(open_page, tmp_path, screenshot, size, scheme):
    page = open_page("/?panel=corpora", size=size, scheme=scheme)
    sign_in(page)
    upload(page, write(tmp_path / "look.jsonl", 40, 30))
    assert sideways(page) <= 0
    screenshot(page, f"corpora-{size}-{scheme}")
    assert serious(page) == []
    page.click("#corpus-forget")
    expect(page.locator("#corpus-said")).to_contain_text("deleted")


def test_signing_out_takes_the_curators_view_away(open_page, tmp_path):
    page = open_page("/?panel=corpora")
    sign_in(page)
    upload(page, write(tmp_path / "away.jsonl", 12, 5))
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#corpus-file")).to_be_hidden()
    assert "patient" not in page.inner_text("body")


def test_no_file_name_and_no_user_id_runs_or_breaks_the_page(open_page):
    page = open_page("/?panel=corpora")
    sign_in(page)
    for number, (one, other) in enumerate(zip(PAYLOADS[::2], PAYLOADS[1::2], strict=True)):
        notes = {one: "Slept well.", other: f"Slept well and asked for {one} and {other}."}
        rows = [json.dumps({"user": user, "text": text}) for user, text in notes.items()]
        file: FilePayload = {
            "name": f"No {number} {one}{other}.jsonl".replace("/", ""),
            "mimeType": "application/json",
            "buffer": "\n".join(rows).encode(),
        }
        page.set_input_files("#corpus-file input[type=file]", file)
        expect(page.locator("#corpus-said .notice")).to_contain_text(f"No {number} ")
        for user in (one, other):  # the smallest and the largest are named
            expect(page.locator("#corpus-report .said")).to_contain_text(user[:30])
    assert page.evaluate("window.pwned") is None
    assert page.locator("#corpora-desk :is(img, iframe, script, object, marquee)").count() == 0
    assert sideways(page) <= 0
    page.click("#corpus-forget")
