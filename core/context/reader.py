"""Reading many sentences fast: equal ones once, by length, in large batches, and kept for next time."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.context.head import Head
from core.context.network import Features, Network
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Pair = tuple[str, str]  # a sentence and the one before it
KEPT = 16_384


class Reader:
    """The encoder and a head's hidden units. Safe to use from many threads."""

    def __init__(self, encoder: "SentenceTransformer", head: Head, *, kept: int = KEPT) -> None:
        self._network = Network(encoder, head.about.layers)
        self._head = head
        if self._network.width != len(head.hidden):
            raise ModelUnavailable("The detector's head does not fit this sentence encoder.")
        self._kept: OrderedDict[Pair, Features] = OrderedDict()
        self._most = kept
        self._lock = threading.Lock()

    def features(self, sentences: Sequence[str], contexts: Sequence[str]) -> Features:
        """The head's hidden units for each sentence in its context: (n, units), in the given order."""
        pairs = list(zip(sentences, contexts, strict=True))
        known = self._recall(dict.fromkeys(pairs))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            read = self._read(new)
            known.update(zip(new, read, strict=True))
            self._keep(new, read)
        if not pairs:
            return np.zeros((0, len(self._head.weights)), dtype=np.float32)
        return np.stack([known[pair] for pair in pairs])

    def _read(self, pairs: list[Pair]) -> Features:
        states = self._network.read([own for own, _ in pairs], [before for _, before in pairs])
        return self._head.units(states)

    def _recall(self, pairs: dict[Pair, None]) -> dict[Pair, Features]:
        with self._lock:
            known = {pair: self._kept[pair] for pair in pairs if pair in self._kept}
            for pair in known:
                self._kept.move_to_end(pair)
        return known

    def _keep(self, pairs: list[Pair], read: Features) -> None:
        with self._lock:
            # a copy: a view of one row would keep the whole batch in memory
            self._kept.update(
                (pair, row.copy())
                for pair, row in zip(pairs[-self._most :], read[-self._most :], strict=True)
            )
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
