"""Reading many sentences fast: equal ones once, by length, in large batches, and kept for next time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.context.head import Head
from core.context.network import Features, Network
from core.context.recent import KEPT, Pair, Recent
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class Reader:
    """The encoder and a head's hidden units. Safe to use from many threads."""

    def __init__(self, encoder: "SentenceTransformer", head: Head, *, kept: int = KEPT) -> None:
        self._network = Network(encoder, head.about.layers)
        self._head = head
        if self._network.width != len(head.hidden):
            raise ModelUnavailable("The detector's head does not fit this sentence encoder.")
        self._recent = Recent(kept)

    def features(self, sentences: Sequence[str], contexts: Sequence[str]) -> Features:
        """The head's hidden units for each sentence in its context: (n, units), in the given order."""
        nothing = np.zeros((0, len(self._head.weights)), dtype=np.float32)
        return self._recent.rows(list(zip(sentences, contexts, strict=True)), self._read, nothing)

    def _read(self, pairs: list[Pair]) -> Features:
        states = self._network.read([own for own, _ in pairs], [before for _, before in pairs])
        return self._head.units(states)
