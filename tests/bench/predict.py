"""What the page adds to an answer: the first token after a click, and the share that formatting takes.

The first token is timed in a browser, from the click to the text on the page, with the models warm. A step is
one frame of three answers on the shipped ensemble; formatting is the meter, bars, burn-down, ribbon and
columns after it. `python -m tests.bench.predict`.
"""

import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from playwright.sync_api import sync_playwright

from app.panels.predict import run
from app.panels.predict.run import Asked, draw
from core.settings import Settings
from core.studio import Studio
from tests.browser.conftest import CHROMIUM_FLAGS
from tests.serving import serve

_FIRST_TOKEN = """() => new Promise((resolve) => {
  const begun = performance.now();
  document.querySelector("#generate").click();
  const look = () => document.querySelector("#answers .protected .made")?.textContent
    ? resolve(performance.now() - begun) : requestAnimationFrame(look);
  look();
})"""
PROMPT = "The door code for Ida Querini's flat is"
LENGTH = 64


def measure(studio: Studio, corpus: str) -> dict[str, float]:
    """Seconds to the first page, milliseconds of a step, and the share of it that formatting takes."""
    formatting: list[float] = []
    made = run._page

    def timed(*args: object) -> run.Page:
        begun = time.perf_counter()
        page = made(*args)  # type: ignore[arg-type]
        formatting.append(time.perf_counter() - begun)
        return page

    run._page = timed  # type: ignore[assignment]
    try:
        begun = time.perf_counter()
        moments = [
            time.perf_counter()
            for _ in draw(studio, Asked(corpus, PROMPT, 0.7, 0, 1.0, LENGTH), curator=False, session="bench")
        ]
    finally:
        run._page = made
    step = float(np.median(np.diff(moments[:-1])))
    return {
        "first_token_s": moments[0] - begun,
        "step_ms": step * 1000,
        "formatting_ms": float(np.median(formatting)) * 1000,
        "formatting_share": float(np.median(formatting)) / step,
    }


def clicked(url: str, times: int = 5) -> list[float]:
    """Seconds from a click on Generate to the first token on a page that was just opened."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        page, seconds = browser.new_page(), []
        for _ in range(times):
            page.goto(f"{url}/?length=4")
            page.wait_for_selector("html[data-view=set]")
            seconds.append(float(page.evaluate(_FIRST_TOKEN)) / 1000)
            page.wait_for_selector("#generate:not([disabled])")
        browser.close()
    return seconds


def main() -> None:
    """Print a small table and one line of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(_env_file=None, data_dir=Path(folder), port=0)
        with serve(settings) as served:
            studio = served.studio
            studio.warm_up().join()
            corpus = studio.ensembles()[0].name
            measure(studio, corpus)
            seconds = clicked(served.url)
            figures = {**measure(studio, corpus), "click_to_token_s": median(seconds)}
            figures["click_to_token_slowest_s"] = max(seconds)
    for name, value in figures.items():
        print(f"  {name:<28} {value:10.4f}")
    print(
        json.dumps({"bench": "predict", "ratios": {name: round(value, 4) for name, value in figures.items()}})
    )


if __name__ == "__main__":
    main()
