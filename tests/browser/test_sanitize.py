"""Sanitize as people meet it: rewrite, look at a word, undo, files, and nothing that was typed runs."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.payloads import PAYLOADS
from tests.browser.seeing import LOOKS, copied, leaves_nothing, serious, sideways


def open_sanitize(open_page, path: str = "/?panel=sanitize", **look) -> Page:
    page = open_page(path, **look)
    page.wait_for_selector("#rewrite", state="visible")
    return page


def rewrite(page: Page, text: str | None = None) -> None:
    if text is not None:
        page.fill("#sanitize-text textarea", text)
    page.click("#rewrite")
    expect(page.locator("#sanitized-chosen .marked")).to_be_visible(timeout=60_000)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_one_click_shows_both_results_with_the_facts_in_every_look(open_page, screenshot, size, scheme):
    page = open_sanitize(open_page, size=size, scheme=scheme)
    expect(page.locator("#sanitize-meaning .meaning")).to_contain_text("stays itself", timeout=90_000)
    expect(page.locator("#sanitize-live .word").first).to_be_visible()
    rewrite(page)
    assert "145572" not in page.inner_text("#sanitized-chosen .marked")
    assert "mary.brown@example.com" not in page.inner_text("#sanitized-chosen .marked")
    assert "Her patient ID is" in page.inner_text("#sanitized-chosen .marked")
    # A word may stay by chance and a few of them may; not all of a text.
    assert page.inner_text("#sanitized-every .plain") != page.input_value("#sanitize-text textarea")
    for fact in ("Epsilon for each word", "What it leaves open", "add up"):
        expect(page.locator("#sanitize-facts")).to_contain_text(fact)
    expect(page.locator("#sanitized-chosen .word[data-said*='nearest to']").first).to_be_visible()
    screenshot(page, f"sanitize-{size}-{scheme}")
    assert serious(page) == []
    assert sideways(page) <= 0


def test_a_word_says_its_neighbours_on_hover_and_on_focus_by_keyboard(open_page):
    page = open_sanitize(open_page)
    rewrite(page, "She was born in 2010 and lives in room 12.")
    word = page.locator("#sanitized-chosen .word").first
    expect(word).to_have_attribute("data-said", re.compile(r"was 2010 .*nearest to 2010: 2009 0\.\d\d"))
    shown = "getComputedStyle(document.querySelector('#sanitized-chosen .word'), '::after').content"
    assert page.evaluate(shown) == "none"
    word.hover()
    page.wait_for_function(f"{shown}.includes('nearest to 2010')")
    page.mouse.move(0, 0)
    page.focus("#sanitized-chosen .marked")
    page.keyboard.press("ArrowRight")
    assert "nearest to 2010" in page.evaluate(shown)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.said").startswith(("replaced, was 12", "came back"))


def test_the_slider_says_what_it_means_and_the_address_keeps_the_settings_but_no_text(open_page):
    page = open_sanitize(
        open_page, "/?panel=sanitize&word_epsilon=12&policy=digits,own&noise=tem&consistent=1"
    )
    expect(page.locator("#sanitize-meaning")).to_contain_text("epsilon 12", timeout=90_000)
    expect(page.locator("#sanitize-own")).to_be_visible()
    page.fill("#sanitize-own textarea", "Zanzibar")
    page.get_by_label("range slider for Epsilon").focus()
    page.keyboard.press("Home")
    expect(page.locator("#sanitize-meaning")).to_contain_text("epsilon 1 ")
    expect(page.locator("#sanitize-meaning")).to_contain_text("hardly ever")
    expect(page).to_have_url(re.compile(r"word_epsilon=1(&|$)"))
    expect(page.get_by_label("range slider for Epsilon")).to_have_attribute("aria-valuetext", "epsilon 1")
    page.get_by_label("Every word", exact=True).first.check()
    expect(page).to_have_url(re.compile(r"policy=digits%2Cown%2Call"))
    link = copied(page, page.get_by_role("button", name="Copy link to these settings").last)
    assert "word_epsilon=1" in link
    assert "Zanzibar" not in link
    assert "Mary" not in link


def test_undo_marks_what_came_back_and_gives_a_verdict(open_page, screenshot):
    page = open_sanitize(open_page, "/?panel=sanitize&word_epsilon=100")
    page.click("#undo")
    expect(page.locator("#undone")).to_contain_text("Rewrite a text first")
    rewrite(page, "The war began in 1939.")
    page.click("#undo")
    expect(page.locator("#undone .notice.done")).to_be_visible(timeout=120_000)
    expect(page.locator("#undone .notice.done")).to_contain_text("The attacker named 1 of 1 perturbed word")
    assert page.inner_text("#undone .word.same") == "1939"
    expect(page.locator("#undo")).to_be_enabled()
    screenshot(page, "sanitize-undone")
    assert serious(page) == []


def test_the_result_can_be_copied_and_downloaded_as_it_is(open_page, tmp_path):
    page = open_sanitize(open_page)
    rewrite(page, "Line one, room 12.\n\n\tLine <two> & more, bed 7.")
    shown = page.evaluate("document.querySelector('#sanitized-chosen .plain').textContent")
    assert shown.startswith("Line one, room ")
    assert "\n\n\tLine <two> & more, bed " in shown
    assert copied(page, page.locator("#sanitize-copy")) == shown
    with page.expect_download() as download:
        page.click("#sanitize-download")
    download.value.save_as(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes().decode() == shown


@pytest.mark.parametrize(
    ("text", "uncheck", "sentence"),
    [("   ", False, "There is no text"), ("Room 12", True, "Choose which words are sensitive")],
)
def test_what_cannot_be_done_is_a_sentence_and_nothing_is_lost(open_page, text, uncheck, sentence):
    page = open_sanitize(open_page)
    rewrite(page)
    before = page.inner_text("#sanitized-chosen .marked")
    page.fill("#sanitize-text textarea", text)
    if uncheck:
        page.get_by_label("Digits", exact=True).uncheck()
        page.get_by_label("Patterns: e-mail, card, phone").uncheck()
    page.click("#rewrite")
    expect(page.locator("#sanitize-said .notice.problem")).to_contain_text(sentence)
    assert page.inner_text("#sanitized-chosen .marked") == before
    assert page.input_value("#sanitize-text textarea") == text


def test_nothing_typed_runs(open_page):
    page = open_sanitize(open_page)
    text = "\n".join(f"{at} {payload}" for at, payload in enumerate(PAYLOADS))
    rewrite(page, text)
    page.locator("#sanitized-every .word").first.hover()
    page.wait_for_timeout(1500)  # time for what should not run
    assert page.evaluate("window.pwned") is None
    tags = page.evaluate(
        "[...document.querySelectorAll('#sanitize-results *')].map(each => each.tagName.toLowerCase())"
    )
    assert set(tags) <= {"div", "section", "h2", "p", "pre", "span", "i"}


def send(page: Page, name: str, content: bytes) -> None:
    page.get_by_text("Files", exact=True).click()
    page.set_input_files(
        "#sanitize-file input[type=file]", {"name": name, "mimeType": "text/plain", "buffer": content}
    )
    expect(page.locator("#sanitize-file")).to_contain_text(Path(name).suffix)
    page.click("#rewrite-file")


def test_a_csv_file_comes_back_with_its_failed_row_named(open_page, tmp_path):
    page = open_sanitize(open_page)
    send(page, "notes.csv", b"id,note\n1,Room 145572 is ready.\n2,ragged,row,here\n3,Call 98765 today.\n")
    expect(page.locator("#file-said .notice")).to_be_visible(timeout=60_000)
    expect(page.locator("#file-said")).to_contain_text("Perturbed:")
    with page.expect_download() as download:
        page.locator("#file-download").click()
    assert download.value.suggested_filename == "notes-sanitised.csv"
    download.value.save_as(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "id,note"
    assert lines[1].startswith("1,Room ")
    assert "145572" not in lines[1]
    assert "98765" not in "".join(lines)
    assert leaves_nothing("studio-sanitize-*")  # the server keeps no copy of its own


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(64), "picture.txt is"),
        ("empty.txt", b"", "is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(open_page, name, content, sentence):
    page = open_sanitize(open_page)
    send(page, name, content)
    expect(page.locator("#file-said .notice.problem")).to_contain_text(sentence, timeout=60_000)
    expect(page.locator("#rewrite-file")).to_be_enabled()
    expect(page.locator("#file-download")).not_to_be_visible()


def test_a_long_file_can_be_stopped_and_leaves_nothing(open_page):
    page = open_sanitize(open_page, "/?panel=sanitize&policy=all")
    send(page, "long.txt", b"The nurse wrote that the patient slept well.\n" * 40_000)
    expect(page.locator("#file-said .progress")).to_be_visible(timeout=60_000)
    page.click("#cancel-file")
    expect(page.locator("#file-said .notice.problem")).to_contain_text("Stopped", timeout=60_000)
    expect(page.locator("#file-download")).not_to_be_visible()
    assert leaves_nothing("studio-sanitize-*")


def test_nothing_in_a_file_s_name_runs(open_page):
    page = open_sanitize(open_page)
    send(page, "<img src=x onerror=window.pwned=1>${window.pwned=1}.txt", b"Room 12.")
    expect(page.locator("#file-said .notice.done")).to_be_visible(timeout=60_000)
    assert page.evaluate("window.pwned") is None
