"""A hundred visitors on all panels for half an hour, and kill -9 again and again in the first half.

STUDIO_SOAK_MINUTES shortens the run; 2 make a rehearsal, too short to say anything of memory.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from core.settings import Settings
from core.store import open_store
from tests.ensembles import make_ensemble
from tests.faults.visitors import CORPORA, LENGTH, Seen, Visitor
from tests.serving import ROOT, environment, serve_apart

VISITORS = 100
MINUTES = float(os.environ.get("STUDIO_SOAK_MINUTES", "30"))
KILLS = max(2, round(MINUTES / 10))  # all of them in the first half; the second is for memory
GROWTH = 1.10  # of resident memory, from a fifth of the second half on to its end


class Place:
    """Where the studio is at the moment; who comes while it is down waits."""

    def __init__(self) -> None:
        self._url, self._up = "", threading.Event()

    def __call__(self) -> str:
        self._up.wait(600)
        return self._url

    def opened(self, url: str) -> None:
        """It answers here now."""
        self._url = url
        self._up.set()

    def closed(self) -> None:
        """It was killed."""
        self._up.clear()


@pytest.mark.slow
@pytest.mark.timeout(60 * MINUTES + 1800)
def test_a_hundred_visitors_and_kill_9(tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", model=str(tiny_llama), queue_size=200)
    for name in CORPORA:
        make_ensemble(settings, name, synthetic=name == "notes", queries=1_000_000, epsilon=50.0)
    seen, place, over = Seen(), Place(), threading.Event()
    visitors = [Visitor(number, place, seen) for number in range(VISITORS)]
    threads = [threading.Thread(target=each.visit, args=(over,), daemon=True) for each in visitors]
    for thread in threads:
        thread.start()
    for _ in range(KILLS):
        with serve_apart(settings, tmp_path / "log.txt") as apart:
            place.opened(apart.url)
            time.sleep(30 * MINUTES / KILLS)
            place.closed()
            apart.process.kill()
    with serve_apart(settings, tmp_path / "log.txt") as apart:
        place.opened(apart.url)
        time.sleep(30 * MINUTES / 5)
        early = apart.process.memory_info().rss
        time.sleep(30 * MINUTES * 4 / 5)
        late = apart.process.memory_info().rss
        over.set()
        for thread in threads:
            thread.join(300)
    with capsys.disabled():
        print(f"\n{_report(seen, early, late)}")
    assert seen.wrong == []
    assert seen.outcomes["cut off"] > 0, "nobody was there when it was killed"
    _ledger_holds(settings, seen)
    assert late < GROWTH * early or MINUTES < 10


def _ledger_holds(settings: Settings, seen: Seen) -> None:
    """It verifies; every token that arrived has a debit of its own; and few more were paid for."""
    verified = subprocess.run(
        [sys.executable, "-m", "core", "ledger", "verify"],
        cwd=ROOT, env=environment(settings), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with open_store(settings) as store:
        for corpus in CORPORA:
            told, used = seen.debits[corpus], store.ledger.budget(corpus).used
            assert len(told) == len(set(told)), "two tokens were paid for by one debit"
            assert max(told) <= used
            assert used - len(told) <= LENGTH * (seen.outcomes["cut off"] + VISITORS)


def _report(seen: Seen, early: int, late: int) -> str:
    times = "; ".join(
        f"{name} {len(own)}, p50 {np.median(own):.2f} s, p95 {np.quantile(own, 0.95):.2f} s"
        for name, own in sorted(seen.seconds.items())
    )
    tokens = sum(map(len, seen.debits.values()))
    return (
        f"{VISITORS} visitors for {MINUTES:g} minutes with {KILLS} times kill -9: {dict(seen.outcomes)}, "
        f"{tokens} tokens debited; {times}; resident {early / 1e6:.0f} to {late / 1e6:.0f} MB "
        f"({late / early - 1:+.1%})"
    )
