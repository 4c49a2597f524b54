"""How an attack tells how far it is, and hears that it should end."""

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from core.errors import StudioError

Item = TypeVar("Item")


class AttackCancelled(StudioError):
    """The attack was ended on request; what it had found so far is kept."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("The attack was cancelled; what it had found by then is kept.")


@dataclass(frozen=True)
class Reached:
    """How far an attack is: the share that is done, what is done now, and the seconds left if known."""

    share: float
    doing: str
    seconds_left: float | None


class Watch:
    """Passed down through an attack; `part` gives a stretch of it to a piece of the work."""

    def __init__(
        self,
        progress: Callable[[Reached], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._progress, self._cancelled = progress, cancelled
        self._low, self._high, self._begun = 0.0, 1.0, monotonic()
        self._furthest = [0.0]  # shared by all parts: a bar never goes back
        self._about = ""

    def at(self, share: float, doing: str) -> None:
        """Say how far this piece of work is; raises `AttackCancelled` if someone asked to end."""
        if self.cancelled():
            raise AttackCancelled
        if self._progress is not None:
            here = self._low + (self._high - self._low) * min(max(share, 0.0), 1.0)
            whole = self._furthest[0] = max(here, self._furthest[0])
            spent = monotonic() - self._begun
            left = spent * (1.0 - whole) / whole if whole > 0.02 else None
            self._progress(Reached(whole, f"{self._about}{doing}", left))

    def cancelled(self) -> bool:
        """Whether someone asked to end."""
        return self._cancelled is not None and self._cancelled()

    def part(self, low: float, high: float) -> "Watch":
        """A watch for the stretch between two shares of this one."""
        piece = Watch(self._progress, self._cancelled)
        span = self._high - self._low
        piece._low, piece._high = self._low + span * low, self._low + span * high
        piece._begun, piece._furthest, piece._about = self._begun, self._furthest, self._about
        return piece

    def about(self, what: str) -> "Watch":
        """The same watch; what is done now is said behind these words."""
        piece = self.part(0.0, 1.0)
        piece._about = f"{self._about}{what}: "
        return piece

    def parts(self, items: Iterable[Item]) -> Iterator[tuple["Watch", Item]]:
        """The items, each with an equal stretch of this watch."""
        known = list(items) if not isinstance(items, Sized) else items
        count = len(known)
        for number, item in enumerate(known):
            yield self.part(number / count, (number + 1) / count), item


SILENT = Watch()
