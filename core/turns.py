"""Taking turns: who waits for the models gets them in the order of asking, one token at a time."""

import threading
from collections import deque
from types import TracebackType


class Turns:
    """A lock that is fair: a plain one may be taken again and again by whoever has just let it go.

    Every answer holds it for one token and then goes to the end of the line, so that a long answer delays
    the others by a token each and never by its length.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._line: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            gate = threading.Lock()
            gate.acquire()
            self._line.append(gate)
        gate.acquire()  # opened by whoever is done, who hands the turn over as it is

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._line:
                self._line.popleft().release()
            else:
                self._taken = False
