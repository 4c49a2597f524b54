"""Many at once: 32 clients on one server. Nobody gets another's answer, no debit is lost, memory stays.

STUDIO_LOAD_MINUTES shortens the run; it takes 10 minutes otherwise.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError

from core.catalogue import find_ensemble
from core.predict.terms import planned_terms
from core.settings import EMBEDDED, Settings
from core.store import open_store

CORPUS = "Ward notes (synthetic)"
ROOT = Path(__file__).resolve().parents[2]
CLIENTS, QUEUE, LENGTH = 32, 12, 12
MINUTES = float(os.environ.get("STUDIO_LOAD_MINUTES", "10"))


@dataclass
class Seen:
    """What all clients saw together."""

    wrong: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # seconds between two tokens of an answer
    answers: int = 0
    debited: int = 0  # tokens that were released by the parts
    full: int = 0  # refusals because the queue was full
    lock: threading.Lock = field(default_factory=threading.Lock)


def _environment(settings: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "SUBMIX_DATA_DIR": str(settings.data_dir),
        "SUBMIX_QUEUE_SIZE": str(settings.queue_size),
        "SUBMIX_PORT": "0",
    }


@contextmanager
def server(settings: Settings) -> Iterator[tuple[str, psutil.Process]]:
    """The application in a process of its own, as `make run` starts it."""
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=_environment(settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield (
            next(line.split()[-1] for line in process.stdout if " is at " in line),
            psutil.Process(process.pid),
        )
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def ask(client: Client, prompt: str, top_k: int, seen: Seen) -> str | None:
    """One answer, or None where the queue was full."""
    job = client.submit(prompt, top_k=top_k, length=LENGTH, corpus=CORPUS, api_name="/generate")
    arrived: list[float] = []
    try:
        while not job.done():  # iterating over a job that was refused would never end
            arrived += [time.perf_counter()] * (len(job.outputs()) - len(arrived))
            time.sleep(0.005)
        job.result()
    except (QueueError, AppError) as error:
        if "full" not in str(error).lower():
            raise
        with seen.lock:
            seen.full += 1
        return None
    text, account = (job.outputs() or [("", {"tokens": 0, "public": 0})])[-1]
    with seen.lock:
        seen.answers += 1
        seen.debited += account["tokens"] - account["public"]
        seen.gaps += [later - earlier for earlier, later in pairwise(arrived)]
    return text


@pytest.mark.slow
@pytest.mark.timeout(60 * MINUTES + 1800)
def test_32_clients_share_one_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", model=EMBEDDED, queue_size=QUEUE)
    entry = find_ensemble(settings, "demo")
    with open_store(settings) as store:
        store.ledger.open_budget(
            CORPUS, **asdict(planned_terms(entry.manifest, epsilon=50.0, queries=1_000_000))
        )
    seen = Seen()
    prompts = [f"Marker {number}: patient {number} of the ward said that" for number in range(CLIENTS)]
    with server(settings) as (url, process):
        clients = [Client(url, verbose=False) for _ in range(CLIENTS)]
        # With one token to choose from the law has no choice, so each prompt has one right answer.
        expected = [ask(clients[0], prompt, 1, seen) for prompt in prompts]
        assert len(set(expected)) > 1
        resident = _hammer(clients, prompts, expected, seen, process)
    with capsys.disabled():
        print(f"\n{_report(seen, resident)}")
    assert seen.wrong == []
    assert seen.full > 0, "the queue was never full, so nothing was learnt about that"
    assert resident[1] < 1.05 * resident[0]
    verified = subprocess.run(
        [sys.executable, "-m", "core", "ledger", "verify"],
        cwd=ROOT,
        env=_environment(settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with open_store(settings) as store:
        budget = store.ledger.budget(CORPUS)
    assert budget is not None
    assert budget.used == seen.debited


def _report(seen: Seen, resident: tuple[int, int]) -> str:
    gaps = np.array(seen.gaps) * 1000
    return (
        f"{CLIENTS} clients for {MINUTES:g} minutes: {seen.answers} answers, {seen.debited} tokens, "
        f"{seen.full} times a full queue; time per token p50 {np.median(gaps):.0f} ms, "
        f"p95 {np.quantile(gaps, 0.95):.0f} ms; resident {resident[0] / 1e6:.0f} to "
        f"{resident[1] / 1e6:.0f} MB ({resident[1] / resident[0] - 1:+.1%})"
    )


def _hammer(
    clients: list[Client], prompts: list[str], expected: list[str | None], seen: Seen, process: psutil.Process
) -> tuple[int, int]:
    """All clients at once until the time is up; resident bytes after a fifth of the time and at the end."""
    end = time.monotonic() + 60 * MINUTES

    def work(number: int) -> None:
        sure = True
        while time.monotonic() < end:
            try:
                answer = ask(clients[number], prompts[number], 1 if sure else 0, seen)
            except Exception as error:  # a client whose thread ends would be missed by nobody
                with seen.lock:
                    seen.wrong.append(f"{prompts[number]!r} failed: {error!r}")
                return
            if answer is None:
                time.sleep(0.3)
            elif sure and answer != expected[number]:
                with seen.lock:
                    seen.wrong.append(f"{prompts[number]!r} gave {answer!r}, not {expected[number]!r}")
            else:
                sure = not sure

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(60 * MINUTES / 5)
    early = process.memory_info().rss
    for thread in threads:
        thread.join()
    return early, process.memory_info().rss
