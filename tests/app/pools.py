"""Counts the pools of memory that the C library has before and after many threads ask for some at once.

With "served" the pages were built before the threads begin, as the program does. A process of its own.
"""

import ctypes
import sys
import tempfile
import threading
from pathlib import Path

from app.main import build_demo
from core.settings import Settings
from core.studio import Studio

THREADS = 24


def pools() -> int:
    """How many there are, by the C library's own account."""
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    library.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.fclose.argtypes = [ctypes.c_void_p]
    with tempfile.NamedTemporaryFile() as file:
        stream = library.fopen(file.name.encode(), b"w")
        library.malloc_info(0, stream)
        library.fclose(stream)
        return Path(file.name).read_text().count("<heap ")


def ask_at_once() -> None:
    """Every thread holds some memory at the same moment, so that none can have the pool of one that ended."""
    meeting = threading.Barrier(THREADS)

    def work() -> None:
        held = bytearray(100_000)
        meeting.wait()
        del held

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    if "served" in sys.argv:
        build_demo(Studio(Settings(_env_file=None, data_dir=Path(sys.argv[1]))))
    before = pools()
    ask_at_once()
    print(before, pools())
