"""Nothing jumps: what moves on the page while it opens and while an answer comes, as browsers measure it."""

import pytest
from playwright.sync_api import Page, expect

# What each panel shows once the server has said what it says on opening.
PANELS = {
    "predict": "#meter .meter",
    "corpora": "#ensembles table",
    "sanitize": "#sanitize-meaning .prose > *",
    "detect": "#detect",
    "attack": "#attack-estimate .prose > *",
    "log": "#log-ledger .prose > *",
    "api": "#api-endpoints .endpoint",
}
CALM = 0.1  # the cumulative layout shift up to which a page counts as good
_WATCH = """() => {
  window.shifts = [];
  new PerformanceObserver(list => {
    for (const each of list.getEntries()) {
      if (!each.hadRecentInput) {
        window.shifts.push({value: each.value, what: each.sources.map(one => one.node?.id
          || one.node?.parentElement?.closest('[id]')?.id || one.node?.nodeName || '?').join(' ')});
      }
    }
  }).observe({type: 'layout-shift', buffered: true});
}"""


def shifted(page: Page) -> tuple[float, list[str]]:
    """The sum of the shifts that nobody caused, and what moved."""
    found = page.evaluate("window.shifts")
    return sum(each["value"] for each in found), [f"{each['value']:.4f} {each['what']}" for each in found]


def test_the_measure_sees_a_page_that_jumps(open_page):
    page = open_page("/?length=4")
    page.evaluate(_WATCH)
    page.wait_for_timeout(600)  # what follows an input within half a second would count as its doing
    page.evaluate(
        "document.body.insertBefore(document.createElement('div'), document.body.firstChild)"
        ".style.height = '500px'"
    )
    page.wait_for_function("window.shifts.reduce((sum, each) => sum + each.value, 0) > 0.1")


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("panel", PANELS)
def test_nothing_jumps_while_a_panel_opens_by_its_link(open_page, panel, size):
    page = open_page(f"/?panel={panel}", size=size)
    page.locator(PANELS[panel]).first.wait_for()
    page.evaluate(_WATCH)
    page.wait_for_timeout(1_000)
    total, what = shifted(page)
    print(f"{panel}, {size}: {total:.4f}")
    assert total < CALM, what


def test_a_link_opens_its_panel_and_no_other_before_it(open_page):
    page = open_page("/?panel=log")
    expect(page.get_by_role("tab", name="Log")).to_have_attribute("aria-selected", "true")
    assert page.locator("#generate").count() == 0  # a panel is built when it is opened
    page.get_by_role("tab", name="Predict").click()
    expect(page.locator("#generate")).to_be_enabled()


def test_nothing_jumps_while_an_answer_comes(open_page):
    for size in ("desktop", "phone"):
        page = open_page("/?length=12", size=size)
        page.evaluate(_WATCH)
        before, _ = shifted(page)
        page.click("#generate")
        expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=240_000)
        expect(page.locator("#generate")).to_be_enabled()
        page.wait_for_timeout(500)
        total, what = shifted(page)
        print(f"{size}: {before:.4f} while the page opened, {total - before:.4f} while the answer came")
        assert total - before < CALM, what
