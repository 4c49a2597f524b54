"""The smallest subset that keeps a value: exact by size where that is affordable, greedy beyond."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

Subset = tuple[int, ...]
# The value of each of several subsets of range(n), each in rising order.
Values = Callable[[Sequence[Subset]], NDArray[np.float64]]
_AT_ONCE = 64


@dataclass(frozen=True)
class Smallest:
    """A subset whose value is within the distance of the whole's, and how good it is.

    No subset of fewer than `at_least` elements is within the distance, for all of them were tried; the
    subset is `exact` when it has that size. A greedy one has at least no element that can be left out.
    """

    subset: Subset
    value: float
    whole: float
    at_least: int
    tried: int

    @property
    def exact(self) -> bool:
        """Whether no smaller subset is within the distance."""
        return len(self.subset) == self.at_least


def smallest(n: int, values: Values, distance: float, *, most: int = 600) -> Smallest:
    """The smallest subset S of n elements with |values(S) - values(all)| <= distance.

    Subsets are tried by rising size, of a size the nearest one wins, as long as no more than `most` of them
    are needed; then elements are added greedily, the one that comes nearest first, and taken away again
    where they turn out not to be needed.
    """
    search = _Search(n, values, distance)
    for size in range(n + 1):
        if search.tried + comb(n, size) > most:
            return search.greedy(at_least=size)
        if (found := search.of_size(size)) is not None:
            return search.result(found, at_least=size)
    return search.result(tuple(range(n)), at_least=n)


class _Search:
    """One search: the value of the whole, and how many subsets were tried."""

    def __init__(self, n: int, values: Values, distance: float) -> None:
        self.n, self._values, self._distance = n, values, distance
        self.tried = 0
        self.whole = float(values([tuple(range(n))])[0])
        self._known: dict[Subset, float] = {tuple(range(n)): self.whole}

    def of_size(self, size: int) -> Subset | None:
        """The subset of this size whose value is nearest, if it is near enough."""
        subsets = combinations(range(self.n), size)
        best: tuple[float, Subset] | None = None
        while batch := list(islice(subsets, _AT_ONCE)):
            near = min((gap, subset) for subset, gap in zip(batch, self._gaps(batch), strict=True))
            best = near if best is None else min(best, near)
        return best[1] if best is not None and best[0] <= self._distance else None

    def greedy(self, at_least: int) -> Smallest:
        """Add the best element until near enough, then drop what is not needed."""
        kept: Subset = ()
        while len(kept) < self.n and self._gaps([kept])[0] > self._distance:
            grown = [tuple(sorted((*kept, each))) for each in range(self.n) if each not in kept]
            kept = grown[int(np.argmin(self._gaps(grown)))]
        while kept:
            fewer = [kept[:place] + kept[place + 1 :] for place in range(len(kept))]
            gaps = self._gaps(fewer)
            if gaps.min() > self._distance:
                break
            kept = fewer[int(np.argmin(gaps))]
        return self.result(kept, at_least)

    def result(self, subset: Subset, at_least: int) -> Smallest:
        """What was found."""
        return Smallest(subset, self._known[subset], self.whole, at_least, self.tried)

    def _gaps(self, subsets: Sequence[Subset]) -> NDArray[np.float64]:
        new = [subset for subset in subsets if subset not in self._known]
        if new:
            found = self._values(new)
            self._known.update((subset, float(value)) for subset, value in zip(new, found, strict=True))
            self.tried += len(new)
        return np.abs(np.array([self._known[subset] for subset in subsets]) - self.whole)
