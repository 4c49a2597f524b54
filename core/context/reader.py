"""Reading many sentences fast: equal ones once, by length, in large batches, and kept for next time."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.context.batches import by_length
from core.context.head import Head
from core.context.network import pooled, tokenise, truncated, with_adapters
from core.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Features = NDArray[np.float32]
Pair = tuple[str, str]  # a sentence and the one before it

# Tokens, padding included, that are read at once: large enough for the matrix products, small enough for
# the caches of the processor.
BATCH_TOKENS = 2048
KEPT = 16_384


class Reader:
    """The encoder's lower layers with a head's adapters merged into them. Safe to use from many threads."""

    def __init__(self, encoder: "SentenceTransformer", head: Head, *, kept: int = KEPT) -> None:
        self._tokenizer = encoder.tokenizer
        self._network = merged(encoder, head)
        self._kept: OrderedDict[Pair, Features] = OrderedDict()
        self._most = kept
        self._lock = threading.Lock()

    @property
    def width(self) -> int:
        """How many features a sentence has."""
        return int(self._network.config.hidden_size)

    def features(self, sentences: Sequence[str], contexts: Sequence[str]) -> Features:
        """The features of each sentence in its context: (n, H), in the given order."""
        pairs = list(zip(sentences, contexts, strict=True))
        known = self._recall(dict.fromkeys(pairs))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            read = self._read(new)
            known.update(zip(new, read, strict=True))
            self._keep(new, read)
        if not pairs:
            return np.zeros((0, self.width), dtype=np.float32)
        return np.stack([known[pair] for pair in pairs])

    def _read(self, pairs: list[Pair]) -> Features:
        tokens = tokenise(self._tokenizer, [own for own, _ in pairs], [before for _, before in pairs])
        found = np.empty((len(pairs), self.width), dtype=np.float32)
        with torch.inference_mode():
            for rows in by_length([len(ids) for ids in tokens.ids], BATCH_TOKENS):
                found[rows] = pooled(self._network, tokens.batch(rows)).numpy()
        return found

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


def merged(encoder: "SentenceTransformer", head: Head) -> Any:
    """The truncated encoder with the head's adapters added into its weights: no slower than without."""
    from peft import set_peft_model_state_dict

    network = with_adapters(truncated(encoder, head.shape.depth), head.shape)
    weights = {name: torch.from_numpy(value.copy()).float() for name, value in head.adapters.items()}
    try:
        report = set_peft_model_state_dict(network, weights)
    except RuntimeError as error:
        raise ModelUnavailable("The detector's adapters do not fit this sentence encoder.") from error
    if report.unexpected_keys:
        raise ModelUnavailable("The detector's adapters do not fit this sentence encoder.")
    return network.merge_and_unload().eval().requires_grad_(False)
