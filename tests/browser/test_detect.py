"""Detect as people meet it: find, ask why, move the threshold, teach, protect, train; nothing typed runs."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.payloads import PAYLOADS
from tests.browser.seeing import LOOKS, serious, sideways

SAME = (
    "I got my social security card today; my number is 450. The library has 450 books on birds. "
    "My bank security code is 450."
)


def open_detect(open_page, path: str = "/?panel=detect", **look) -> Page:
    page = open_page(path, **look)
    page.wait_for_selector("button#detect", state="visible")
    return page


def find(page: Page, text: str | None = None) -> None:
    if text is not None:
        page.fill("#detect-text textarea", text)
    page.click("button#detect")
    expect(page.locator("#detect-marked .sentences")).to_be_visible(timeout=120_000)


def choose(page: Page, button: str, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click(button)
    chooser.value.set_files(path)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_one_click_marks_the_example_and_a_sentence_says_why_in_every_look(
    open_page, screenshot, size, scheme
):
    page = open_detect(open_page, size=size, scheme=scheme)
    find(page)
    expect(page.locator("#detect-summary")).to_contain_text("give or ask for a secret")
    canary = page.locator("#detect-marked [data-place]", has_text="My bank security code is 450.")
    expect(canary).to_have_class(re.compile(r"score-(high|flagged)"))
    canary.click()
    expect(page.locator("#detect-why")).to_contain_text("Training families", timeout=60_000)
    expect(page.locator("#detect-why .word.key").first).to_be_visible()
    screenshot(page, f"detect-{size}-{scheme}")
    assert serious(page) == []
    assert sideways(page) <= 0


def test_the_same_number_is_judged_by_its_context_and_by_keyboard_too(open_page):
    page = open_detect(open_page)
    find(page, SAME)
    looks = [each.get_attribute("class") or "" for each in page.locator("#detect-marked [data-place]").all()]
    flagged = [bool(re.search("score-(high|flagged)", look)) for look in looks]
    assert flagged == [True, False, True]
    page.focus("#detect-marked .sentences")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#detect-why")).to_contain_text("My bank security code", timeout=60_000)


def test_the_threshold_marks_anew_and_is_in_the_address_without_any_text(open_page):
    page = open_detect(open_page, "/?panel=detect&threshold=0.9")
    find(page, SAME)
    expect(page.locator("#detect-marked")).to_contain_text("from 0.90 on")
    page.get_by_label("range slider for Threshold").focus()
    page.keyboard.press("Home")
    expect(page.locator("#detect-summary")).to_contain_text("3 of 3 sentences")
    expect(page).to_have_url(re.compile(r"threshold=0(&|$)"))
    assert "450" not in page.url
    assert "library" not in page.url


def test_the_sentences_are_exported_as_csv_and_jsonl(open_page, tmp_path):
    page = open_detect(open_page)
    find(page, SAME)
    for form in ("csv", "jsonl"):
        with page.expect_download() as download:
            page.click(f"#detect-{form}")
        path = tmp_path / f"out.{form}"
        download.value.save_as(path)
        content = path.read_bytes().decode()
        rows = (
            list(csv.DictReader(io.StringIO(content)))
            if form == "csv"
            else [json.loads(line) for line in content.splitlines()]
        )
        assert [SAME[int(row["start"]) : int(row["end"])] for row in rows] == [row["text"] for row in rows]
        assert len(rows) == 3


def test_protect_these_opens_sanitize_which_rewrites_the_flagged_sentences_alone(open_page):
    page = open_detect(open_page)
    find(page, SAME)
    page.click("#detect-protect")
    expect(page.locator("#rewrite")).to_be_visible()
    expect(page.locator("#sanitize-context")).to_contain_text("the detector as set on Detect")
    expect(page.locator("#sanitize-text textarea")).to_have_value(SAME)
    page.click("#rewrite")
    expect(page.locator("#sanitized-chosen .marked")).to_be_visible(timeout=90_000)
    expect(page.locator("#sanitized-chosen .counts")).to_contain_text("perturbed", timeout=90_000)
    assert "The library has 450 books on birds." in page.inner_text("#sanitized-chosen .marked")


def test_teaching_shows_the_card_before_and_now_saves_and_comes_back(open_page, tmp_path):
    page = open_detect(open_page)
    page.get_by_text("Teach it sentences of your own").click()
    page.click("#teach")
    expect(page.locator("#teach-said table")).to_be_visible(timeout=120_000)
    with page.expect_download() as download:
        page.click("#teach-save")
    path = tmp_path / "mine.safetensors"
    download.value.save_as(path)
    assert path.stat().st_size < 100_000
    page.click("#teach-back")
    expect(page.locator("#teach-said")).to_contain_text("shipped detector is in use again")
    choose(page, "#teach-load", path)
    expect(page.locator("#teach-said")).to_contain_text("is loaded", timeout=120_000)
    assert serious(page) == []


def test_the_card_is_in_a_foldout(open_page, screenshot):
    page = open_detect(open_page)
    page.get_by_text("How often it is right: the card").click()
    expect(page.locator("#detect-card")).to_contain_text("gamma_L")
    expect(page.locator("#detect-card svg:visible")).to_be_visible()
    screenshot(page, "detect-card")
    assert serious(page) == []


def test_a_text_file_is_read_into_the_box(open_page, tmp_path):
    (tmp_path / "note.txt").write_text("The wifi password is marigold77.\nIt rains.", encoding="utf-8")
    page = open_detect(open_page)
    choose(page, "#detect-upload", tmp_path / "note.txt")
    expect(page.locator("#detect-text textarea")).to_have_value(re.compile("marigold77"))


def test_nothing_that_was_typed_runs(open_page):
    page = open_detect(open_page)
    find(page, "\n".join(PAYLOADS))
    page.locator("#detect-marked [data-place]").first.click()
    expect(page.locator("#detect-why")).to_contain_text("Training families", timeout=60_000)
    assert page.evaluate("window.pwned") is None


@pytest.mark.slow
def test_cadp_trains_on_the_embedded_model_is_stopped_continued_and_answers(open_page, screenshot):
    page = open_detect(open_page)
    page.get_by_text("Train a model with privacy for what is flagged").click()
    page.get_by_label("range slider for How much of the text").focus()
    page.keyboard.press("Home")
    page.click("#cadp-train")
    status = page.locator("#cadp-status")
    expect(status.locator("[role=progressbar]")).to_be_visible(timeout=300_000)
    expect(status.locator("svg:visible")).to_have_count(2, timeout=900_000)  # two steps are made: both curves
    expect(status).to_contain_text("left. You may close the page")
    status.scroll_into_view_if_needed()
    screenshot(page, "detect-cadp-training")
    page.click("#cadp-stop")
    expect(status.locator("h2")).to_contain_text(": Stopped", timeout=300_000)
    expect(status).to_contain_text("Continue goes on from there")
    screenshot(page, "detect-cadp-stopped")
    page.click("#cadp-continue")
    expect(status.locator("h2")).to_contain_text(": Trained", timeout=1_800_000)
    expect(page.locator("#cadp-card")).to_contain_text("differential privacy")
    page.click("#cadp-ask")
    expect(page.locator("#cadp-answers .answer")).to_have_count(2, timeout=300_000)
    expect(page.locator("#cadp-answers .made").nth(1)).not_to_be_empty(timeout=300_000)
    screenshot(page, "detect-cadp")
    assert serious(page) == []
