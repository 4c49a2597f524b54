"""What the child processes of the fault tests do. They are forked from a server that has all imported."""

import multiprocessing
import os
import random
import resource
import signal
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from sqlalchemy import event

from core.errors import BudgetRefused, LedgerUnavailable, StudioError
from core.settings import Settings
from core.store import Store, open_store
from core.store.mark import Mark

PARTS = 3
NOBODY = 65534

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload([__name__])


def open_corpus(store: Store, **changes: Any) -> None:
    terms = {"parts": PARTS, "epsilon": 2.0, "alpha": 2.0, "queries": 1000, "protocol": "StrictSubMix"}
    store.ledger.open_budget("ward", **{**terms, "synthetic": False, **changes})


def debit_in_threads(
    settings: Settings, threads: int, debits: int, loss: float, start: Barrier, results: Connection
) -> None:
    """Debit from many threads at once; send the receipts and the count of each kind of refusal."""
    receipts: list[tuple[int, str]] = []
    refused: list[str] = []

    def work(store: Store) -> None:
        for _ in range(debits):
            try:
                receipt = store.ledger.debit("ward", [loss] * PARTS)
            except StudioError as error:
                refused.append(type(error).__name__)
            else:
                receipts.append((receipt.sequence, receipt.digest))

    # A busy machine may be slow, which is not the fault that is looked for here.
    with open_store(settings, busy_seconds=100) as store:
        start.wait()
        workers = [threading.Thread(target=work, args=(store,)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    results.send((receipts, refused))


def debit_until_killed(settings: Settings, released: Connection) -> None:
    """Debit from two threads for ever; each receipt goes through the pipe as a token would leave."""
    turn = threading.Lock()

    def work(store: Store) -> None:
        while True:
            receipt = store.ledger.debit("ward", [random.random() * 1e-6 for _ in range(PARTS)])
            with turn:
                released.send((receipt.sequence, receipt.digest))

    store = open_store(settings)
    workers = [threading.Thread(target=work, args=(store,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def debit_on_a_small_disk(settings: Settings, room: int, results: Connection) -> None:
    """Debit while no file may grow by more than `room` bytes; then once more when there is room again."""
    receipts, errors = [], []
    with open_store(settings) as store:
        store.ledger.debit("ward", [1e-6] * PARTS)
        largest = max(path.stat().st_size for path in settings.data_dir.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, resource.RLIM_INFINITY))
        for _ in range(40):
            try:
                receipts.append(store.ledger.debit("ward", [1e-6] * PARTS).sequence)
            except Exception as error:
                errors.append((type(error).__name__, str(error)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        receipts.append(store.ledger.debit("ward", [1e-6] * PARTS).sequence)
        used = store.ledger.budget("ward").used
    results.send((receipts, errors, used))


def debit_as_nobody(settings: Settings, folder: Path, results: Connection) -> None:
    """Try to debit files that are read-only, as someone for whom that means something (root ignores it)."""
    store = open_store(settings)
    store.close()  # its next connection is made by nobody
    for path in [*settings.data_dir.iterdir(), settings.data_dir]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    os.chdir(folder)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        store.ledger.debit("ward", [1e-6] * PARTS)
    except (LedgerUnavailable, BudgetRefused) as error:
        results.send((type(error).__name__, str(error)))
    else:
        results.send(("", "the debit went through"))


def _drain(pipe: Connection) -> list[tuple[int, str]]:
    """What had been released when the child died; a message cut in half was not."""
    released = []
    try:
        while True:
            released.append(pipe.recv())
    except (EOFError, OSError):
        return released


def kill_in_mid_write(settings: Settings, rng: random.Random, least: int = 1) -> list[tuple[int, str]]:
    """Let a child debit for a moment, kill it with -9, and return what it had released, `least` at least."""
    mine, theirs = processes.Pipe(duplex=False)
    child = processes.Process(target=debit_until_killed, args=(settings, theirs))
    child.start()
    theirs.close()
    released = [mine.recv() for _ in range(rng.randrange(least, least + 14))]
    time.sleep(rng.random() * 0.003)
    os.kill(child.pid, signal.SIGKILL)  # type: ignore[arg-type]
    released += _drain(mine)
    child.join()
    assert child.exitcode == -signal.SIGKILL
    return released


def die_at(settings: Settings, point: str, released: Connection) -> None:
    """Debit once and die by kill -9 at exactly that point of the way."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    store = open_store(settings)
    if point == "before commit":
        event.listen(store.engine, "commit", die)
    else:
        mark = store.ledger._marks
        advance = mark.advance

        def advance_and_die(to: Mark) -> None:
            if point == "after mark":
                advance(to)
            die()

        setattr(mark, "advance", advance_and_die)  # noqa: B010
    receipt = store.ledger.debit("ward", [1e-6] * PARTS)
    released.send((receipt.sequence, receipt.digest))
