"""What all protocols share: a budget for each part in whole units, one call, one result."""

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError
from core.predict.rows import Rows, read_rows
from core.privacy.renyi import Floats, check_order
from core.privacy.sampling import SMALLEST_ORDER
from core.privacy.units import budget_units, loss_units, nats, remaining_units


@dataclass(frozen=True, slots=True)
class Step:
    """One answered query. All of it is for the curator; a visitor gets one token drawn from `pmf`.

    `losses` (nats, slack included) is what the ledger debits, and `units` the same in whole units of 1e-12:
    rounding `losses` up to units gives `units` again. `remaining` is after the debit. `private` tells
    whether any part had a say.
    """

    pmf: Floats
    weights: Floats
    losses: Floats
    remaining: Floats
    private: bool
    units: NDArray[np.int64]


class Answer(NamedTuple):
    """What a protocol decides on the public support: the law, the weights, the losses in units."""

    pmf: Floats
    weights: Floats
    units: Floats
    private: bool


class Protocol(ABC):
    """A prediction protocol over pmfs: `step(public, parts)` answers one query and debits its budget.

    The state is `remaining` (one budget a part), `used` (queries answered) and `stopped`. It is restored
    from a ledger with `restore`; the object itself keeps no other memory of the past.

    The debit has happened when `step` returns. Budgets count in units of 1e-12 nats: epsilon rounds down,
    losses round up, and a protocol never answers from a part whose rounded loss exceeds its remainder, so
    the rounded losses of a part never add up to more than epsilon.
    """

    shape: ClassVar[str] = "parts"  # what `step` takes: "parts" (k, V), "halves" (k, 2, V), "whole" (1, V)
    protected: ClassVar[bool] = True

    def __init__(
        self,
        parts: int,
        epsilon: float = 2.0,
        alpha: float = 2.0,
        queries: int = 1024,
        *,
        remaining: ArrayLike | None = None,
        used: int = 0,
        stopped: bool = False,
    ) -> None:
        if parts < 2:
            raise InputError("At least two parts are needed: with one there is nobody to hide among.")
        if queries < 1:
            raise InputError("The budget must be planned for at least one query.")
        self.parts, self.queries = int(parts), int(queries)
        self.epsilon, self.alpha = float(epsilon), check_order(alpha)
        if self.alpha < SMALLEST_ORDER:
            raise InputError(
                f"The Renyi order must be at least {SMALLEST_ORDER:g} here; 2 is the usual choice."
            )
        self._budget = budget_units(self.epsilon)
        self._left = np.full(self.parts, float(self._budget))
        self.used, self.stopped = 0, False
        if remaining is not None or used or stopped:
            self.restore(self.remaining if remaining is None else remaining, used, stopped)

    @property
    def remaining(self) -> Floats:
        """What is left of each part's budget, in nats."""
        return nats(self._left)

    def restore(self, remaining: ArrayLike, used: int, stopped: bool = False) -> None:
        """Take the state from a ledger: remainders in nats, queries answered, whether STOP was issued.

        Remainders above epsilon count as epsilon, and what is not a number counts as nothing left.
        """
        left = remaining_units(remaining)
        if left.shape != (self.parts,):
            raise InputError(f"The ledger must hold one remainder for each of the {self.parts} parts.")
        self._left = np.minimum(left, float(self._budget))
        self.used, self.stopped = max(int(used), 0), bool(stopped)

    def copy(self) -> Self:
        """An independent protocol in the same state."""
        twin = copy.copy(self)
        twin._left = self._left.copy()
        return twin

    def step(self, public: ArrayLike, parts: ArrayLike) -> Step:
        """Answer one query: choose weights, debit every part, and return the law to draw from."""
        return self.answer(read_rows(public, parts, self._rows_shape()))

    def answer(self, query: Rows) -> Step:
        """The same for a query whose pmfs are known to be normalised on the public support."""
        if query.good.shape != self._rows_shape():
            raise InputError(f"This protocol reads pmfs in the shape {self._rows_shape()}.")
        answer = self._answer(query)
        self._left = self._left - answer.units
        self.used += 1
        return Step(
            pmf=query.spread(answer.pmf),
            weights=answer.weights,
            losses=nats(answer.units),
            remaining=nats(self._left),
            private=answer.private,
            units=answer.units.astype(np.int64),
        )

    def quote(self, tokens: int) -> float:
        """The most, in nats, that any part can pay for so many more tokens: from public facts alone."""
        return self.epsilon if tokens > 0 else 0.0

    @abstractmethod
    def _answer(self, query: Rows) -> Answer:
        """Decide on one query; must not charge a part more than it has left."""

    def _rows_shape(self) -> tuple[int, ...]:
        return (self.parts, 2) if self.shape == "halves" else (self.parts,)

    def _public_answer(self, query: Rows) -> Answer:
        nothing = np.zeros(self.parts)
        return Answer(query.public, nothing, nothing.copy(), private=False)

    def _affordable(self, losses: ArrayLike) -> tuple[Floats, bool]:
        """Debit first and check afterwards: units to charge, and whether every part has some left.

        `all(left > 0)` is false for a NaN, so a loss that is not a number closes the budget. What exceeds
        a remainder is charged as the whole of it.
        """
        units = loss_units(np.broadcast_to(np.asarray(losses, np.float64), (self.parts,)))
        after = self._left - units
        some_left = bool(np.all(after > 0.0))
        return np.where(after > 0.0, units, self._left), some_left
