"""A ledger of the attack's own, with real debits, that ends with the attack; the studio's is not touched."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.settings import Settings
from core.store import Ledger, open_store

_IN_MEMORY = Path("/dev/shm")


@contextmanager
def scratch_ledger() -> Iterator[Ledger]:
    """Nothing in it must outlive a power cut, so it lies in memory where the system has a folder for that."""
    in_memory = _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK | os.X_OK)
    with (
        tempfile.TemporaryDirectory(prefix="submix-attack-", dir=_IN_MEMORY if in_memory else None) as folder,
        open_store(Settings(_env_file=None, data_dir=Path(folder), database_url="")) as store,
    ):
        yield store.ledger
