"""The rank of a candidate among all others by total log-likelihood, without reading all of them.

Log-likelihoods only fall along a branch. So every candidate at least as likely as the canary lies behind
branches that are all at least as likely, and only these have to be read, the likeliest first. Of a canary
that comes with chance p there are at most 1/p such branches at every depth.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, NamedTuple

from core.attack.ranking.reader import Place, Reader
from core.attack.ranking.spelling import Node, Spelling, Tokens
from core.attack.watch import SILENT, Watch

BATCH = 32
# Two ways to batch the same sums differ in the last digits: what is nearer than this counts as a tie, and
# ties put the other candidates first.
TIE = 1e-4


@dataclass(frozen=True)
class Rank:
    """Between `low` and `high` candidates, the canary among them, are at least as likely as the canary."""

    low: int
    high: int
    candidates: int
    log_likelihood: float
    read: int  # model tokens evaluated

    @property
    def exact(self) -> bool:
        """Whether the search came to its end."""
        return self.low == self.high


class _Waiting(NamedTuple):
    """A branch that is to be read."""

    cost: float  # minus the log-likelihood so far
    order: int
    node: Node
    token: int
    memory: Any
    path: Tokens


class _Frontier:
    """The branches that wait, by length: the likeliest goes first, with others of its length beside it."""

    def __init__(self) -> None:
        self._heaps: dict[int, list[_Waiting]] = {}
        self._order = count()

    def add(self, log_likelihood: float, node: Node, token: int, memory: Any, path: Tokens) -> None:
        entry = _Waiting(-log_likelihood, next(self._order), node, token, memory, path)
        heapq.heappush(self._heaps.setdefault(len(path), []), entry)

    def take(self, most: int) -> list[_Waiting]:
        length = min(self._heaps, key=lambda each: self._heaps[each][0])
        heap = self._heaps[length]
        taken = [heapq.heappop(heap) for _ in range(min(most, len(heap)))]
        if not heap:
            del self._heaps[length]
        return taken

    def __bool__(self) -> bool:
        return bool(self._heaps)

    def __iter__(self) -> Iterator[_Waiting]:
        for heap in self._heaps.values():
            yield from heap


def log_likelihood(reader: Reader, prompt: Sequence[int], tokens: Sequence[int]) -> float:
    """The total log-likelihood of `tokens` after the prompt."""
    place = reader.start(prompt)
    total = float(place.log_law[tokens[0]])
    for token, following in pairwise(tokens):
        (place,) = reader.extend([place.memory], [token])
        total += float(place.log_law[following])
    return total


def best_first(
    reader: Reader,
    spelling: Spelling,
    canary: Tokens,
    *,
    most_read: int,
    batch: int = BATCH,
    watch: Watch = SILENT,
) -> Rank:
    """The canary's rank: exact, or bounds on it once `most_read` model tokens were evaluated.

    The bound from above: of the candidates behind an unread branch of log-likelihood s no more than
    exp(s - t) reach the canary's t, for their shares of the branch add up to one.
    """
    begun = reader.read
    own = log_likelihood(reader, spelling.prompt, canary)
    threshold, found, frontier = own - TIE, 1, _Frontier()

    def open_up(place: Place, node: Node, path: Tokens, so_far: float) -> int:
        """Let the children wait that may hold candidates above the canary; how many end right here."""
        ended = 0
        for token, child in spelling.steps(node):
            total = so_far + float(place.log_law[token])
            if total < threshold:
                continue
            if child is not None:
                frontier.add(total, child, token, place.memory, (*path, token))
            elif (*path, token) != canary:
                ended += 1
        return ended

    found += open_up(reader.start(spelling.prompt), spelling.root, (), 0.0)
    while frontier and reader.read - begun < most_read:
        watch.at((reader.read - begun) / most_read, "searching the likeliest candidates")
        # Every branch that waits must be read in the end, so reading several at once wastes nothing.
        taken = frontier.take(batch)
        places = reader.extend([branch.memory for branch in taken], [branch.token for branch in taken])
        for branch, place in zip(taken, places, strict=True):
            found += open_up(place, branch.node, branch.path, -branch.cost)
    unread = sum(_at_most(spelling, branch, threshold) for branch in frontier)
    high = min(found + unread, spelling.candidates)
    return Rank(found, high, spelling.candidates, own, reader.read - begun)


def _at_most(spelling: Spelling, branch: _Waiting, threshold: float) -> int:
    """How many candidates behind an unread branch may reach the threshold."""
    room = min(-branch.cost - threshold, 60.0)
    return min(spelling.below(branch.node), math.floor(math.exp(room) * (1.0 + TIE)))
