"""One pool of threads for the search, each with a matrix library that uses one thread.

A matrix library's own threads meet after every product. On a busy machine they then wait for one another
most of the time; shards of words that meet once a batch do not.
"""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0
_limit = None


def thread_count() -> int:
    """OMP_NUM_THREADS where it is set, else the cores that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def pool() -> ThreadPoolExecutor:
    """The threads that search, made once."""
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="nearest")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold the matrix library to one thread; the limit is for the process, so the last user lifts it."""
    global _users, _limit  # noqa: PLW0603  # what is limited is global as well
    with _lock:
        _users += 1
        if _users == 1:
            _limit = _controller().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limit is not None:
                _limit.restore_original_limits()


@lru_cache(maxsize=1)
def _controller() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
