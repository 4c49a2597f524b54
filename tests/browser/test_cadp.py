"""CADP training in a browser: watched, stopped, continued, asked. A tiny model; its steps wait for us."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.context.cadp.plan import CadpProgress
from core.context.cadp.run import CadpRun
from core.settings import Settings
from tests.browser.seeing import LOOKS, serious, sideways
from tests.serving import Served, serve

FIRST, SECOND = 4, 7  # the steps at which the training waits


@dataclass
class Steps:
    """Where the training waits until it is let go."""

    let_go: dict[int, threading.Event] = field(
        default_factory=lambda: {FIRST: threading.Event(), SECOND: threading.Event()}
    )

    def wait(self, step: int) -> None:
        if step in self.let_go:
            self.let_go[step].wait(600)


@pytest.fixture(scope="module")
def served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A studio on a tiny model."""
    settings = Settings(
        _env_file=None, data_dir=tmp_path_factory.mktemp("data"), model=str(tiny_llama), port=0
    )
    with serve(settings) as running:
        running.studio.public()
        yield running


@pytest.fixture
def steps() -> Iterator[Steps]:
    """Trainings that wait at two of their steps, so that no look at them comes too late."""
    steps, note = Steps(), CadpRun._note

    def noted(self: CadpRun, progress: CadpProgress) -> None:
        note(self, progress)
        if progress.stage == "training":
            steps.wait(progress.step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CadpRun, "_note", noted)
        patch.setattr("core.context.cadp.run.give_way", lambda: None)  # the browser is waiting for it
        yield steps
        for each in steps.let_go.values():
            each.set()


def open_training(open_page, **look) -> Page:
    page = open_page("/?panel=detect", **look)
    page.get_by_text("Train a model with privacy for what is flagged").click()
    expect(page.locator("#cadp-train")).to_be_visible()
    return page


def reached(page: Page) -> int:
    return int(page.locator("#cadp-status [role=progressbar]").get_attribute("aria-valuenow") or 0)


def looked_at(page: Page, screenshot, name: str) -> None:
    page.locator("#cadp-status, #cadp-answers").last.scroll_into_view_if_needed()
    screenshot(page, name)
    assert serious(page) == []
    assert sideways(page) <= 0


def test_a_training_is_watched_stopped_continued_and_asked_in_every_look(
    open_page, served, steps, screenshot
):
    pages = {f"{size}-{scheme}": open_training(open_page, size=size, scheme=scheme) for size, scheme in LOOKS}
    page = pages["desktop-light"]
    page.locator("#cadp-mechanism input").click()
    page.get_by_role("option", name="DP-SGD: noise on everything", exact=True).click()
    page.get_by_label("range slider for How much of the text").focus()
    page.keyboard.press("Home")
    page.click("#cadp-train")
    for name, each in pages.items():
        if each is not page:
            each.reload()  # whoever comes now finds it
            each.get_by_text("Train a model with privacy for what is flagged").click()
        status = each.locator("#cadp-status")
        expect(status.locator("svg:visible")).to_have_count(2)
        expect(status).to_contain_text(re.compile(r"\d+% done, .* left\. You may close the page"))
        expect(each.locator("#cadp-train")).to_be_hidden()
        looked_at(each, screenshot, f"cadp-training-{name}")
    before = reached(page)
    page.click("#cadp-stop")
    steps.let_go[FIRST].set()
    for name, each in pages.items():
        expect(each.locator("#cadp-status h2")).to_contain_text(": Stopped")
        expect(each.locator("#cadp-status")).to_contain_text(f"{FIRST + 1} of ")
        expect(each.locator("#cadp-continue")).to_be_visible()
        expect(each.locator("#cadp-discard")).to_be_visible()
        looked_at(each, screenshot, f"cadp-stopped-{name}")
    page.click("#cadp-continue")
    expect(page.locator("#cadp-status")).to_contain_text("You may close the page")
    expect(page.locator("#cadp-status h2")).to_contain_text(": Training")
    assert before < reached(page) < 100
    steps.let_go[SECOND].set()
    expect(page.locator("#cadp-status h2")).to_contain_text(": Trained")
    expect(page.locator("#cadp-card")).to_contain_text("differential privacy")
    assert not any((served.studio.settings.data_dir / "cadp-training").iterdir())
    for name, each in pages.items():
        if each is not page:
            each.reload()
            each.get_by_text("Train a model with privacy for what is flagged").click()
        expect(each.locator("#cadp-model input")).to_have_value(re.compile("DP-SGD epsilon 8"))
        each.click("#cadp-ask")
        expect(each.locator("#cadp-answers .answer")).to_have_count(2)
        expect(each.locator("#cadp-answers .made").nth(1)).not_to_be_empty()
        looked_at(each, screenshot, f"cadp-asked-{name}")


def test_a_stopped_training_is_discarded_and_another_one_can_begin(open_page, served, steps):
    page = open_training(open_page)
    page.locator("#cadp-mechanism input").click()
    page.get_by_role("option", name="S-DPSGD: noise on what has digits", exact=True).click()
    page.get_by_label("range slider for How much of the text").focus()
    page.keyboard.press("Home")
    page.click("#cadp-train")
    expect(page.locator("#cadp-status svg:visible")).to_have_count(2)
    page.click("#cadp-stop")
    steps.let_go[FIRST].set()
    expect(page.locator("#cadp-discard")).to_be_visible()
    page.click("#cadp-discard")
    expect(page.locator("#cadp-train")).to_be_visible()
    expect(page.locator("#cadp-status section")).to_have_count(0)
    assert not any((served.studio.settings.data_dir / "cadp-training").iterdir())
