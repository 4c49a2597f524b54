"""How the C library hands out memory to this process, where it is glibc; for programs, at their start.

Two of its habits cost time or memory here. It gives threads pools of their own, eight for each core, and
every pool grows to the largest answer that ever passed through it. And it gives large blocks back to the
system as soon as they are free: the pmfs of one token are a few megabytes that are wanted again for the next,
and taking them anew, page by page, took longer than the accounting itself.
"""

import ctypes
import os
import sys

# Of malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
POOLS = 2  # one for the thread that began the program, one for all others
_KEPT = 256 * 2**20  # free bytes at the end of a pool that are not given back
_BLOCK = 32 * 2**20  # blocks above this are mapped and given back by themselves; glibc allows no more


def settle() -> None:
    """Few pools, and free memory stays at hand. What `MALLOC_...` in the environment says goes first."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return
    for variable, parameter, value in (
        ("MALLOC_ARENA_MAX", _M_ARENA_MAX, POOLS),
        ("MALLOC_TRIM_THRESHOLD_", _M_TRIM_THRESHOLD, _KEPT),
        ("MALLOC_MMAP_THRESHOLD_", _M_MMAP_THRESHOLD, _BLOCK),
    ):
        if variable not in os.environ:
            mallopt(parameter, value)
