"""The application as people meet it: desktop and phone, light and dark, mouse and keyboard."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD
from tests.browser.seeing import LOOKS, copied, leaves_nothing, serious, sideways


def generate(page: Page) -> None:
    page.click("#generate")
    expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=120_000)


def open_log(page: Page) -> None:
    page.get_by_role("tab", name="Log").click()
    expect(page.locator("#log-events .notice, #log-events table").first).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_the_first_minute_and_the_log_in_every_look(open_page, screenshot, size, scheme):
    page = open_page("/?length=14", size=size, scheme=scheme)
    assert len(page.input_value("#prompt textarea")) > 20  # filled in, so that one click shows something
    generate(page)
    for column in ("protected", "unprotected", "public"):
        assert page.inner_text(f"#answers .{column} .made").strip()
    assert "of any part's 2" in page.inner_text("#verdict")
    assert page.locator("#ribbon .token").count() > 1
    page.evaluate("window.scrollTo(0, 0)")
    screenshot(page, f"predict-{size}-{scheme}")
    open_log(page)
    assert "generate" in page.inner_text("#log-events table")
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.locator("#log-verdict")).to_contain_text("The ledger is whole")
    screenshot(page, f"log-{size}-{scheme}")
    assert sideways(page) <= 0


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_axe_finds_no_serious_violation(open_page, size, scheme):
    page = open_page("/?length=4", size=size, scheme=scheme)
    generate(page)
    for folded in ("How tokens are drawn", "Protocol and budget"):
        page.get_by_role("button", name=folded).click()
    problems = serious(page)
    page.get_by_role("tab", name="Corpora").click()
    expect(page.locator("#ensembles table")).to_be_visible()
    problems += serious(page)
    open_log(page)
    assert problems + serious(page) == []


def test_stop_ends_the_answer_and_is_noted(open_page):
    page = open_page("/?length=256")
    page.click("#generate")
    expect(page.locator("#answers .protected .made")).not_to_be_empty()
    page.click("#stop")
    expect(page.locator("#verdict")).to_contain_text("paid for")
    expect(page.locator("#generate")).to_be_enabled()
    page.wait_for_timeout(500)
    made = page.inner_text("#answers")
    page.wait_for_timeout(1_000)
    assert page.inner_text("#answers") == made
    open_log(page)
    expect(page.locator("#log-events table")).to_contain_text("stopped")


def test_a_bad_prompt_is_a_sentence_on_the_page_and_nothing_is_lost(open_page):
    page = open_page("/?length=2")
    generate(page)
    page.fill("#prompt textarea", "   ")
    page.click("#generate")
    expect(page.locator("#verdict .notice.problem")).to_contain_text("The prompt is empty")
    expect(page.locator("#generate")).to_be_enabled()
    assert page.input_value("#prompt textarea") == "   "


def test_the_address_opens_the_same_view(open_page):
    page = open_page("/?panel=log&temperature=1.35&top_k=7&length=12&top_p=0.5")
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Predict").click()
    page.get_by_text("How tokens are drawn").click()
    expect(page.get_by_label("number input for Temperature")).to_have_value("1.35")
    expect(page.get_by_label("number input for Top-k")).to_have_value("7")
    expect(page.get_by_label("number input for Length")).to_have_value("12")
    page.get_by_label("number input for Length").fill("31")
    page.get_by_label("number input for Length").blur()
    expect(page).to_have_url(re.compile(r"length=31"))
    expect(page).to_have_url(re.compile(r"panel=predict"))
    assert copied(page, page.get_by_role("button", name="Copy link")) == page.url
    assert "patient" not in page.url  # settings only, never text


@pytest.mark.parametrize("panel", ["predict", "corpora", "sanitize", "detect", "attack", "log", "api"])
def test_every_panel_has_a_link_to_copy_and_says_that_it_is_copied(open_page, panel):
    page = open_page(f"/?panel={panel}")
    button = page.get_by_role("button", name="Copy link").locator("visible=true")
    assert copied(page, button) == page.url
    expect(page.locator("#studio-said")).to_have_text("The link is copied. It carries settings, never text.")
    expect(page.locator("#studio-said")).to_be_empty()  # and goes away


def test_what_cannot_be_copied_is_said(open_page):
    page = open_page("/?length=2")
    page.get_by_role("button", name="Copy the protected answer").click()
    expect(page.locator("#studio-said")).to_have_text("There is nothing to copy yet.")
    generate(page)
    made = page.inner_text("#answers .protected .made")
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")  # as without TLS
    page.evaluate("void (document.execCommand = (what) => { window.oldWay = what; return true })")
    page.get_by_role("button", name="Copy the protected answer").click()
    expect(page.locator("#studio-said")).to_have_text("The answer is copied.")
    assert (page.evaluate("window.oldWay"), bool(made)) == ("copy", True)
    page.evaluate("void (document.execCommand = () => false)")
    page.get_by_role("button", name="Copy the protected answer").click()
    expect(page.locator("#studio-said")).to_contain_text("does not let a page copy")


def test_the_address_keeps_what_the_log_is_asked_for(open_page):
    page = open_page("/?panel=log&log_from=the+last+hour&log_panel=predict&log_outcome=%3Cscript%3E")
    expect(page.get_by_label("From")).to_have_value("the last hour")
    expect(page.get_by_label("Panel")).to_have_value("predict")
    expect(page.get_by_label("Outcome")).to_have_value("any")
    page.get_by_label("Outcome").click()
    page.get_by_role("option", name="refused").click()
    expect(page).to_have_url(re.compile(r"log_outcome=refused"))


def test_the_curators_door_shows_the_way_in_or_the_way_out(open_page):
    page = open_page("/?panel=api")
    page.get_by_role("button", name="Curator").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_label("Password")).to_be_hidden()
    page.reload()
    page.get_by_role("button", name="Curator").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()  # the browser keeps the token
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Password")).to_be_visible()


def test_nonsense_in_the_address_is_ignored(open_page):
    page = open_page("/?panel=%3Cscript%3E&temperature=NaN&top_k=1e99&length=-4&top_p=abc")
    expect(page.get_by_role("tab", name="Predict")).to_have_attribute("aria-selected", "true")
    page.get_by_text("How tokens are drawn").click()
    expect(page.get_by_label("number input for Temperature")).to_have_value("0.7")


def test_keyboard_alone_is_enough(open_page):
    page = open_page("/?length=4")
    page.focus("#prompt textarea")
    tab_to(page, "#generate")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=120_000)
    tab_to(page, ".ribbon")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "cost 0." in page.evaluate("document.activeElement.dataset.said")
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement === document.querySelector('.ribbon .token')")


def tab_to(page: Page, selector: str) -> None:
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"the Tab key does not come to {selector}")


def test_one_click_shows_what_an_unprotected_model_gives_away(open_page):
    """Tokens are drawn at random, so a few clicks are allowed; the protected answer keeps it in each."""
    page = open_page("/?length=14")
    for _ in range(4):
        generate(page)
        assert page.locator("#answers .protected mark.secret").count() == 0
        if page.locator("#answers .unprotected mark.secret").count():
            break
    verdict = page.inner_text("#verdict")
    assert verdict.startswith("The unprotected model gave away")
    assert page.inner_text("#answers .unprotected mark.secret") in verdict
    assert "The protected one did not." in verdict


def test_a_visitor_sees_only_their_own_session_and_the_curator_all(open_page):
    first, second = open_page("/?length=2"), open_page("/?length=2")
    generate(first)
    open_log(second)
    expect(second.locator("#log-events")).to_contain_text("Nothing here yet")
    second.get_by_text("Curator", exact=True).click()
    second.get_by_label("Password").fill("wrong")
    second.get_by_role("button", name="Sign in").click()
    expect(second.get_by_text("That is not the curator's password.")).to_be_visible()
    second.get_by_label("Password").fill(PASSWORD)
    second.get_by_role("button", name="Sign in").click()
    expect(second.locator("#log-events table")).to_contain_text("generate")
    expect(second.locator("#log-sessions")).to_contain_text("Sessions, last seen first")
    second.get_by_role("button", name="Sign out").click()
    expect(second.locator("#log-events")).to_contain_text("Nothing here yet")


def test_the_log_can_be_filtered_and_exported(open_page, tmp_path):
    page = open_page("/?length=2")
    generate(page)
    open_log(page)
    page.get_by_label("Action contains").fill("nothing like it")
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("#log-events")).to_contain_text("No event is like that")
    page.get_by_label("Action contains").fill("gener")
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("#log-events table")).to_contain_text("generate")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export JSONL").click()
    download.value.save_as(tmp_path / "log.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["action"] for line in lines] == ["generate"]
    assert lines[0]["text"]  # nobody in the demonstration corpus exists, so what was asked of it is kept
    assert lines[0]["cost"] is None  # costs leave to the curator
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    assert download.value.suggested_filename == "session-log.csv"
    assert leaves_nothing("studio-log-*")  # the server keeps no copy of its own
