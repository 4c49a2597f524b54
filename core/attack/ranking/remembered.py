"""A decoder that remembers: many generations from one prompt read each history of tokens once."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from core.attack.ranking.branches import Branch, Branches
from core.errors import InputError
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack

_MOST_BYTES = 256 * 2**20


class RememberingDecoder:
    """A `Decoder` over a stack of models. The models' answers depend on the tokens alone, so they are kept
    for the newest histories; what a protocol makes of them is decided anew for every token.
    """

    def __init__(self, public: PublicModel, stack: AdapterStack, most_bytes: int = _MOST_BYTES) -> None:
        self._branches = Branches(public, stack)
        self._known: OrderedDict[tuple[int, ...], tuple[Branch, Any]] = OrderedDict()
        self._bytes, self._most_bytes = 0, most_bytes
        self._history: tuple[int, ...] = ()

    @property
    def read(self) -> int:
        """Model tokens evaluated; one pass over all rows counts as one."""
        return self._branches.read

    def start(self, prompt: Sequence[int]) -> Any:
        """Next-token logits (rows, V) after the prompt."""
        self._history = tuple(prompt)
        return self._logits(lambda: self._branches.start(prompt))

    def step(self, token: int) -> Any:
        """Next-token logits (rows, V) after one more token."""
        if not self._history:
            raise InputError("A request starts with a prompt.")
        before, self._history = self._history, (*self._history, token)
        return self._logits(lambda: self._branches.extend([self._known[before][0]], [token])[0])

    def _logits(self, read: Any) -> Any:
        if self._history not in self._known:
            branch, logits = read()
            self._known[self._history] = (branch, logits)
            self._bytes += logits.element_size() * logits.numel()
        self._known.move_to_end(self._history)
        logits = self._known[self._history][1]
        self._forget()
        return logits

    def _forget(self) -> None:
        """Drop the oldest histories; the newest one stays, for the next token grows from it."""
        while self._bytes > self._most_bytes and len(self._known) > 1:
            _, (_, logits) = self._known.popitem(last=False)
            self._bytes -= logits.element_size() * logits.numel()
