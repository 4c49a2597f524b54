"""The tour: from stop to stop by keyboard alone, over every panel, and away with one key."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from app.components.tour import STOPS


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_the_tour_points_at_everything_it_speaks_of(open_page, screenshot, size, scheme):
    page = open_page(size=size, scheme=scheme)
    page.click("#tour-start")
    for number, stop in enumerate(STOPS, 1):
        expect(page.locator("#tour")).to_contain_text(stop.words[:40])
        expect(page.locator("#tour span")).to_have_text(f"{number} of {len(STOPS)}")
        expect(page.locator(".toured")).to_be_visible()
        expect(page.get_by_role("tab", name=stop.panel)).to_have_attribute("aria-selected", "true")
        if number == 3:
            screenshot(page, f"tour-{size}-{scheme}")
            found = Axe().run(page).response["violations"]
            assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        page.keyboard.press("Enter")
    expect(page.locator("#tour")).to_have_count(0)
    expect(page.locator(".toured")).to_have_count(0)
    expect(page.locator("#tour-start")).to_be_focused()
    expect(page.get_by_role("tab", name="Predict")).to_have_attribute("aria-selected", "true")


def test_the_tour_can_be_skipped_at_any_stop(open_page):
    page = open_page()
    page.click("#tour-start")
    page.keyboard.press("Enter")
    expect(page.locator("#tour span")).to_have_text(f"2 of {len(STOPS)}")
    page.keyboard.press("Escape")
    expect(page.locator("#tour")).to_have_count(0)
    page.click("#tour-start")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Skip").click()
    expect(page.locator("#tour")).to_have_count(0)
    expect(page.get_by_role("tab", name="Corpora")).to_have_attribute(
        "aria-selected", "true"
    )  # it stays there
