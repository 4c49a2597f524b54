"""What several browser tests look for. All of it waits: on a busy machine things come late, and are right."""

import tempfile
import time
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PASSWORD

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]
# A colour on its way to another one has a contrast that nobody chose. What never ends is not waited for.
_STILL = """() => Promise.all(document.getAnimations()
  .filter(each => each.playState === 'running' && each.effect.getComputedTiming().endTime !== Infinity)
  .map(each => each.finished.catch(() => null))).then(() => null)"""


def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps people out."""
    page.evaluate(_STILL)
    return [
        f"{violation['id']}: {node['html'][:150]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def copied(page: Page, button: Locator) -> str:
    """What a click puts into the clipboard, which happens a moment later."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    page.wait_for_function("navigator.clipboard.readText()")
    return str(page.evaluate("navigator.clipboard.readText()"))


def leaves_nothing(pattern: str) -> bool:
    """Whether the server's own temporary files of that name go away; some do when the answer is complete."""
    for _ in range(1_000):
        if not list(Path(tempfile.gettempdir()).glob(pattern)):
            return True
        time.sleep(0.1)
    return False


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def sign_in(page: Page) -> None:
    """Become the curator at the foot of the page."""
    page.get_by_role("button", name="Curator").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Signed in.")).to_be_visible()
