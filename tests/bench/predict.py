"""What the page adds to an answer: the first token after the models are warm, and the share of formatting.

A step is one frame of three answers on the shipped ensemble; formatting is the meter, bars, burn-down, ribbon
and columns after it. `python -m tests.bench.predict`.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np

from app.panels.predict import run
from app.panels.predict.run import Asked, draw
from core.settings import Settings
from core.studio import Studio

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


def main() -> None:
    """Print the figures as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(Settings(_env_file=None, data_dir=Path(folder)))
        studio.warm_up().join()
        corpus = studio.ensembles()[0].name
        measure(studio, corpus)
        print(json.dumps(measure(studio, corpus), indent=2))
        assert studio.store is not None
        studio.store.close()


if __name__ == "__main__":
    main()
