"""How soon a page is there: first paint, and the panel with what the server says on opening, warm.

Every panel by its link, at desktop and phone width, each time in a browser that has nothing in its cache. The
peer in the same run is a page of one line from the same server. `python -m tests.bench.paint`.
"""

import json
import shutil
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from core.settings import Settings
from tests.browser.conftest import CHROMIUM_FLAGS, SIZES
from tests.browser.test_still import PANELS
from tests.serving import serve

ROUNDS = 3
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_NOW = "() => performance.now() / 1000"


def opened(browser: Browser, url: str, size: str, shows: str) -> tuple[float, float]:
    """Seconds from the request to the first paint, and to what the panel shows."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(url)
    page.locator(shows).first.wait_for()
    there = float(page.evaluate(_NOW))
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    paint = float(page.evaluate(_PAINT))
    context.close()
    return paint, there


def main() -> None:
    """Print a small table and one line of JSON."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    figures: dict[str, dict[str, float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Settings(_env_file=None, data_dir=Path(folder), port=0)) as served,
        sync_playwright() as playwright,
    ):
        served.studio.warm_up().join()
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        opened(browser, served.url, "desktop", PANELS["predict"])
        for size in SIZES:
            pages = {f"{panel}, {size}": (f"/?panel={panel}", shows) for panel, shows in PANELS.items()}
            for name, (link, shows) in {**pages, f"one line, {size}": ("/robots.txt", "pre")}.items():
                times = [opened(browser, served.url + link, size, shows) for _ in range(ROUNDS)]
                paint, there = (median(each) for each in zip(*times, strict=True))
                figures[name] = {"first_paint_s": round(paint, 3), "panel_s": round(there, 3)}
        browser.close()
    print(f"  {'':<22}{'first paint':>14}{'panel there':>14}")
    for name, found in figures.items():
        print(f"  {name:<22}{found['first_paint_s']:>12.2f} s{found['panel_s']:>12.2f} s")
    slowest = {
        key: max(found[key] for name, found in figures.items() if not name.startswith("one line"))
        for key in ("first_paint_s", "panel_s")
    }
    print(json.dumps({"bench": "paint", "ratios": {f"slowest_{k}": v for k, v in slowest.items()}}))


if __name__ == "__main__":
    main()
