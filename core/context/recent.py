"""What was read of recent sentences, kept for next time. Safe to use from many threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Pair = tuple[str, str]  # a sentence and the one before it
KEPT = 16_384


class Recent:
    """Rows by sentence and context; the ones not asked for longest are forgotten first."""

    def __init__(self, most: int = KEPT) -> None:
        self._rows: OrderedDict[Pair, NDArray[np.float32]] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def rows(
        self,
        pairs: Sequence[Pair],
        read: Callable[[list[Pair]], NDArray[np.float32]],
        nothing: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """A row for each pair in the given order; `read` is asked for those not known, each once."""
        known = self._recall(dict.fromkeys(pairs))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            found = read(new)
            known.update(zip(new, found, strict=True))
            self._keep(new, found)
        return np.stack([known[pair] for pair in pairs]) if pairs else nothing

    def _recall(self, pairs: dict[Pair, None]) -> dict[Pair, NDArray[np.float32]]:
        with self._lock:
            known = {pair: self._rows[pair] for pair in pairs if pair in self._rows}
            for pair in known:
                self._rows.move_to_end(pair)
        return known

    def _keep(self, pairs: list[Pair], read: NDArray[np.float32]) -> None:
        with self._lock:
            # a copy: a view of one row would keep the whole batch in memory
            self._rows.update(
                (pair, row.copy())
                for pair, row in zip(pairs[-self._most :], read[-self._most :], strict=True)
            )
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)
