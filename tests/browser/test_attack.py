"""Attack as people meet it: stored and live runs, links, reports, settings in the address."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from core.attack.conduct import one_at_a_time
from core.attack.kept.storage import list_runs, save_run
from tests.app.test_attack_panel import a_run
from tests.browser.seeing import LOOKS, copied, serious, sideways, sign_in


def open_attack(open_page, path: str = "/?panel=attack", **look) -> Page:
    page = open_page(path, **look)
    page.wait_for_selector("#attack-run", state="visible")
    return page


def unfold(page: Page) -> None:
    page.get_by_role("button", name="Stored runs and shared reports").click()
    expect(page.locator("#attack-runs")).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_a_stored_run_opens_with_verdict_pictures_and_numbers_in_every_look(
    open_page, served, screenshot, size, scheme
):
    save_run(served.studio.settings, a_run(created="2099-01-02T03:04:05+00:00"))
    page = open_attack(open_page, size=size, scheme=scheme)
    unfold(page)
    page.click("#attack-open")
    expect(page.locator(".attack-verdict")).to_contain_text("reads 9 of 10 secrets")
    expect(page.locator("#attack-result .chart title")).to_have_text("Secrets", use_inner_text=False)
    expect(page.locator("#attack-result table")).to_contain_text("0 of 10")
    screenshot(page, f"attack-{size}-{scheme}")
    assert serious(page) == []
    assert sideways(page) <= 0


def test_on_a_phone_every_number_lies_within_the_screen_and_words_of_pictures_can_be_read(open_page, served):
    save_run(served.studio.settings, a_run(created="2099-01-02T03:04:05+00:00"))
    page = open_attack(open_page, size="phone")
    unfold(page)
    page.click("#attack-open")
    expect(page.locator("#attack-result table")).to_contain_text("0 of 10")
    width = page.evaluate("window.innerWidth")
    for cell in page.locator("#attack-result td, #attack-runs td").all():
        box = cell.bounding_box()
        assert box is None or box["x"] + box["width"] <= width, cell.inner_text()
    smallest = page.evaluate("""() => Math.min(...[...document.querySelectorAll('#attack-result .chart')].map(
      chart => 12 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width))""")
    assert smallest >= 9.5


def test_there_is_nothing_to_download_before_there_is_a_result(open_page, served):
    save_run(served.studio.settings, a_run(created="2099-01-02T03:04:05+00:00"))
    page = open_attack(open_page)
    expect(page.locator("#attack-html")).to_be_hidden()
    expect(page.locator("#attack-settings")).to_be_visible()
    unfold(page)
    page.click("#attack-open")
    expect(page.locator("#attack-html")).to_be_visible()
    expect(page.locator("#attack-json")).to_be_visible()


def test_the_estimate_of_a_link_is_that_of_its_attack(open_page):
    page = open_attack(open_page, "/?panel=attack&attack=audit&attack_amount=400")
    expect(page.locator("#attack-estimate")).to_contain_text("Takes", timeout=60_000)
    expect(page.locator("#attack-estimate")).to_contain_text("Plays hard worlds")


def test_a_live_attack_says_what_it_takes_and_is_stored(open_page, served):
    before = len(list_runs(served.studio.settings))
    page = open_attack(open_page, "/?panel=attack&attack=stop&attack_amount=12")
    expect(page.locator("#attack-amount input")).to_have_value("12")
    expect(page.locator("#attack-estimate")).to_contain_text("Takes", timeout=60_000)
    page.click("#attack-run")
    expect(page.locator(".attack-verdict")).to_contain_text("On SubMix as the paper has it", timeout=120_000)
    expect(page.locator(".attack-verdict")).to_contain_text("On Strict")
    expect(page.locator("#attack-run")).to_be_enabled()
    assert len(list_runs(served.studio.settings)) == before + 1


def test_a_cancelled_attack_says_so_and_keeps_what_it_has(open_page, served):
    page = open_attack(open_page, "/?panel=attack&attack=stop&attack_amount=500")
    expect(page.locator("#attack-amount input")).to_have_value("500")
    page.click("#attack-run")
    expect(page.locator("#attack-progress .progress")).to_be_visible()
    page.click("#attack-cancel")
    expect(page.locator("#attack-result")).to_contain_text("was cancelled", timeout=60_000)
    expect(page.locator("#attack-run")).to_be_enabled()
    assert list_runs(served.studio.settings)[0].status in ("cancelled", "finished")


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("My ID is 5.", "needs a hole"),
        ("My ID is {digits:13}", "too many to rank"),
        ("My ID is {letters:6}", "joins neighbouring characters"),
        ("{digits:4} is my ID", "words before its first hole"),
    ],
)
def test_a_format_that_cannot_be_ranked_is_a_sentence_before_the_click_and_after(
    open_page, served, template, sentence
):
    before = len(list_runs(served.studio.settings))
    page = open_attack(open_page, "/?panel=attack&attack=canaries&attack_amount=4&targets=whole")
    expect(page.locator("#attack-amount input")).to_have_value("4")
    page.get_by_role("button", name="More settings").click()
    page.fill("#attack-template input, #attack-template textarea", template)
    page.keyboard.press("Tab")
    expect(page.locator("#attack-estimate")).to_contain_text(sentence)
    page.click("#attack-run")
    expect(page.locator("#attack-progress")).to_contain_text(sentence)
    expect(page.locator("#attack-run")).to_be_enabled()
    expect(page.locator("#attack-cancel")).to_be_disabled()
    assert len(list_runs(served.studio.settings)) == before


def test_an_attack_beside_another_one_is_a_sentence_and_can_be_run_when_that_has_ended(open_page, served):
    page = open_attack(open_page, "/?panel=attack&attack=stop&attack_amount=12")
    expect(page.locator("#attack-amount input")).to_have_value("12")
    with one_at_a_time(served.studio.settings):
        page.click("#attack-run")
        expect(page.locator("#attack-progress")).to_contain_text("Another attack is running here")
        expect(page.locator("#attack-run")).to_be_enabled()
    page.click("#attack-run")
    expect(page.locator(".attack-verdict")).to_contain_text("On Strict")
    expect(page.locator("#attack-progress")).not_to_contain_text("Another attack")


def test_the_buttons_come_back_where_the_queue_was_full(open_page):
    page = open_attack(open_page, "/?panel=attack&attack=stop&attack_amount=12")
    expect(page.locator("#attack-amount input")).to_have_value("12")
    expect(page.locator("#attack-estimate")).to_contain_text("Takes", timeout=60_000)
    full = {"status": 503, "json": {"detail": "Queue is full."}}
    page.route("**/queue/join*", lambda route: route.fulfill(**full))
    with page.expect_response("**/queue/join*"):
        page.click("#attack-run")
    expect(page.locator("#attack-cancel")).to_be_disabled()
    expect(page.locator("#attack-run")).to_be_enabled()
    page.unroute("**/queue/join*")
    page.click("#attack-run")
    expect(page.locator(".attack-verdict")).to_contain_text("On Strict", timeout=120_000)


def test_the_address_holds_the_settings_and_a_click_takes_the_attacks_own(open_page):
    page = open_attack(open_page, "/?panel=attack&attack=audit&targets=strict,pmixed&attack_amount=400")
    expect(page.locator("#attack-amount input")).to_have_value("400")
    expect(page.get_by_label("PMixED", exact=True)).to_be_checked()
    expect(page.locator("#attack-subject")).to_be_hidden()
    page.get_by_label("The STOP attack").check()
    expect(page.locator("#attack-amount input")).to_have_value("100")
    expect(page).to_have_url(re.compile("attack=stop"))
    page.get_by_label("Plant canaries and train").check()
    page.get_by_role("button", name="More settings").click()
    expect(page.locator("#attack-template")).to_be_visible()
    page.fill("#attack-template input, #attack-template textarea", "Zanzibar {digits:4}")
    link = copied(page, page.locator("#attack-settings"))
    assert "attack=canaries" in link
    assert "Zanzibar" not in link


def test_what_the_address_does_not_say_is_left_to_the_attack(open_page):
    page = open_attack(open_page, "/?panel=attack&attack=canaries")
    expect(page.locator("#attack-amount input")).to_have_value("16")
    expect(page.get_by_label("SMDP text", exact=True)).to_be_checked()
    expect(page.get_by_label("public model", exact=True)).not_to_be_checked()


def test_the_curator_shares_a_report_copies_its_link_and_revokes_it(open_page, served, browser):
    save_run(served.studio.settings, a_run(created="2099-02-02T03:04:05+00:00"))
    page = open_attack(open_page)
    unfold(page)
    expect(page.locator("#attack-share")).to_be_hidden()
    sign_in(page)
    page.click("#attack-share")
    link = copied(page, page.locator(".attack-copy").first)
    assert re.fullmatch(re.escape(served.url) + r"/report/[A-Za-z0-9_-]{43}", link)
    stranger = browser.new_context().new_page()
    stranger.set_default_timeout(120_000)
    stranger.goto(link)
    expect(stranger.locator(".verdict")).to_contain_text("reads 9 of 10 secrets")
    assert serious(stranger) == []
    assert serious(page) == []
    page.click("#attack-revoke")
    expect(page.locator("#attack-said")).to_contain_text("revoked")
    stranger.reload()
    expect(stranger.locator("body")).to_contain_text("leads nowhere")
    assert stranger.locator(".verdict").count() == 0
    stranger.context.close()


def test_the_report_is_downloaded_as_html_and_as_json(open_page, served, tmp_path):
    run = save_run(served.studio.settings, a_run(created="2099-03-02T03:04:05+00:00"))
    page = open_attack(open_page)
    unfold(page)
    page.click("#attack-open")
    expect(page.locator(".attack-verdict")).to_be_visible()
    for button, name in (("#attack-html", "html"), ("#attack-json", "json")):
        with page.expect_download() as waiting:
            page.click(button)
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        assert path.suffix == f".{name}"
        text = path.read_text(encoding="utf-8")
        assert "<!doctype html>" in text if name == "html" else json.loads(text)["id"] == run.id


@pytest.mark.slow
def test_the_default_run_shows_the_difference(open_page, screenshot):
    page = open_attack(open_page)
    page.click("#attack-run")
    expect(page.locator("#attack-result .attack-head")).to_be_visible(timeout=290_000)
    sentences = page.locator(".attack-verdict p").all_inner_texts()
    found = re.match(r"With no protection the attacker reads (\d+) of 10 secrets", sentences[0])
    assert found
    assert int(found.group(1)) >= 6
    assert sentences[1] == "Under Strict at epsilon 2: none of 10, interval 0 to 26 %."
    screenshot(page, "attack-default")
