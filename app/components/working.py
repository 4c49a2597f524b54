"""Work in a thread of its own that tells how far it is and can be stopped."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Progress = TypeVar("Progress")
Result = TypeVar("Result")

_LOOK = 0.2  # seconds between two looks at the work


class Working(Generic[Progress, Result]):
    """Runs `work(progress, cancelled)`. Iterating starts it and gives the newest progress until it ends.

    Whoever stops iterating stops the work, too. `result` is what the work returned, or its error raised.
    """

    def __init__(
        self, work: Callable[[Callable[[Progress], None], Callable[[], bool]], Result], stop: threading.Event
    ) -> None:
        self._work, self._stop = work, stop
        self._told: queue.SimpleQueue[Progress] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._result: list[Result] = []
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[Progress]:
        threading.Thread(target=self._run, name="working", daemon=True).start()
        try:
            while not self._ended.wait(_LOOK):
                newest = self._newest()
                if newest:
                    yield newest[-1]
        finally:
            self._stop.set()

    @property
    def result(self) -> Result:
        """What came of it."""
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._work(self._told.put, self._stop.is_set))
        except BaseException as error:  # it is raised again where the result is asked for
            self._error = error
        finally:
            self._ended.set()

    def _newest(self) -> list[Progress]:
        told = []
        while not self._told.empty():
            told.append(self._told.get())
        return told
