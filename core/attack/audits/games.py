"""Repeated games: is a part there or not? Played on the real protocol, in worlds that are small and hard.

A world says what every model answers after every history of tokens. A game runs the protocol in it with the
part in question or without it, and hands the attacker the tokens that were drawn. Some of the games are spent
on choosing the event that tells the worlds apart best; the others are played on that event, so that the
bound holds whatever was chosen.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.attack.audits.audit import Counts, binary_renyi, renyi_bound
from core.attack.intervals import CONFIDENCE
from core.attack.watch import SILENT, Watch
from core.errors import InputError
from core.predict import Protocol
from core.privacy import sampling
from core.privacy.renyi import Floats

History = tuple[int, ...]
Rows = Callable[
    [History], tuple[Floats, Floats]
]  # the public pmf (V,), and the other models' as `step` takes
PILOT = 0.25  # of the games choose the event
_AT_ONCE = 500


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two worlds: a protocol in its first state, and what the models answer."""

    protocol: Protocol
    rows: Rows
    known: dict[History, tuple[Protocol, Floats]] = field(default_factory=dict, repr=False)

    def play(self, steps: int) -> History:
        """One game: every token is drawn by the real sampler from the law of the real protocol.

        After the same tokens the protocol is in the same state, so a step is computed once for each history.
        """
        history: History = ()
        while len(history) < steps:
            if history not in self.known:
                before = self.known[history[:-1]][0] if history else self.protocol
                state = before.copy()
                self.known[history] = (state, state.step(*self.rows(history)).pmf)
            history = (*history, sampling.sample(self.known[history][1]))
        return history


@dataclass(frozen=True, eq=False)
class World:
    """Two sides that differ in one part, and how many tokens the attacker sees."""

    name: str
    with_part: Side
    without: Side
    steps: int


@dataclass(frozen=True)
class Played:
    """What the games on one world showed: a lower bound on epsilon beside the proved one."""

    world: str
    counts: Counts
    bound: float
    estimate: float
    epsilon: float

    @property
    def broken(self) -> bool:
        """Whether the mechanism gives away more than it says."""
        return self.bound > self.epsilon


def audit(
    worlds: Sequence[World], *, games: int, confidence: float = CONFIDENCE, watch: Watch = SILENT
) -> tuple[Played, ...]:
    """Play every world `games` times on each side. All bounds hold at once with the stated confidence."""
    if games < 20 or not worlds:
        raise InputError("An audit needs a world to play in and at least 20 games on each side.")
    each = 1.0 - (1.0 - confidence) / len(worlds)
    return tuple(_audit_one(world, games, each, piece) for piece, world in watch.parts(list(worlds)))


def _audit_one(world: World, games: int, confidence: float, watch: Watch) -> Played:
    protocol = world.with_part.protocol
    pilot = max(10, int(PILOT * games))
    seen = [
        _play(side, world, pilot, watch.part(0.12 * number, 0.12 * number + 0.12))
        for number, side in enumerate((world.with_part, world.without))
    ]
    event = best_event(seen[0], seen[1], protocol.alpha)
    rest = games - pilot
    hits = [
        sum(count for tokens, count in _play(side, world, rest, piece).items() if tokens in event)
        for piece, side in watch.part(0.25, 1.0).parts([world.with_part, world.without])
    ]
    counts = Counts(hits[0], rest, hits[1], rest)
    p, q = hits[0] / rest, hits[1] / rest
    estimate = max(binary_renyi(p, q, protocol.alpha), binary_renyi(q, p, protocol.alpha))
    bound = renyi_bound(counts, protocol.alpha, confidence)
    return Played(world.name, counts, bound, estimate, protocol.epsilon)


def best_event(with_part: Counter[History], without: Counter[History], alpha: float) -> frozenset[History]:
    """The set of transcripts whose count bounds epsilon best, among those of largest likelihood ratio."""
    transcripts = sorted(
        with_part.keys() | without.keys(), key=lambda t: math.log((with_part[t] + 0.5) / (without[t] + 0.5))
    )
    total_with, total_without = with_part.total(), without.total()
    best, event, hits_with, hits_without = -1.0, frozenset[History](), 0, 0
    for size in range(1, len(transcripts)):
        tokens = transcripts[-size]
        hits_with, hits_without = hits_with + with_part[tokens], hits_without + without[tokens]
        bound = renyi_bound(Counts(hits_with, total_with, hits_without, total_without), alpha)
        if bound > best:
            best, event = bound, frozenset(transcripts[-size:])
    return event


def _play(side: Side, world: World, games: int, watch: Watch) -> Counter[History]:
    seen: Counter[History] = Counter()
    for start in range(0, games, _AT_ONCE):
        watch.at(start / games, f"playing '{world.name}'")
        seen.update(side.play(world.steps) for _ in range(min(_AT_ONCE, games - start)))
    return seen


def fixed(public: Sequence[float], parts: Sequence[Sequence[float]], *, halves: bool = False) -> Rows:
    """Models that answer the same after every history."""
    first, others = np.asarray(public, np.float64), np.asarray(parts, np.float64)
    if halves:
        others = np.repeat(others[:, None, :], 2, axis=1)
    return lambda history: (first, others)
