"""Small worlds whose transcripts can all be enumerated, and the exact divergence between two of them.

A world gives every model's pmf after every history of tokens. The real protocol answers in it, and the law
of each token is the integer law that the sampler draws from, so what is measured is what is released.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from core.predict import Protocol
from core.privacy.sampling import integer_law

History = tuple[int, ...]


@dataclass
class World:
    """Pmfs that depend on the tokens so far: `rows(history)` has the public pmf first, then the parts."""

    parts: int
    vocabulary: int
    seed: int
    kind: str = "random"
    always: np.ndarray | None = None  # one table of pmfs for every history
    known: dict[History, np.ndarray] = field(default_factory=dict)

    def rows(self, history: History) -> np.ndarray:
        if self.always is not None:
            return self.always
        if history not in self.known:
            generator = np.random.default_rng([self.seed, len(history), *history])
            self.known[history] = KINDS[self.kind](generator, self.parts, self.vocabulary, history)
        return self.known[history]


def _dirichlet(generator, concentration, size, vocabulary):
    pmfs = generator.dirichlet(np.full(vocabulary, concentration), size=size) + 1e-12
    return pmfs / pmfs.sum(axis=1, keepdims=True)


def _random(generator, parts, vocabulary, history):
    return np.vstack(
        [_dirichlet(generator, 1.0, 1, vocabulary), _dirichlet(generator, 0.5, parts, vocabulary)]
    )


def _spiky(generator, parts, vocabulary, history):
    """The parts are sure of tokens that the public model thinks rare."""
    public = np.full(vocabulary, 1e-3)
    public[generator.integers(vocabulary)] += 1.0
    return np.vstack([public / public.sum(), _dirichlet(generator, 0.05, parts, vocabulary)])


def _alone(generator, parts, vocabulary, history):
    """Part 0 against all others, who put everything on one token: the least base for its loss."""
    public = generator.dirichlet(np.full(vocabulary, 2.0)) * 0.98 + 0.02 / vocabulary
    crowd, own = generator.permutation(vocabulary)[:2]
    rows = np.full((parts, vocabulary), 1e-9)
    rows[0, own] += 1.0
    rows[1:, crowd] += 1.0
    return np.vstack([public[None], rows / rows.sum(axis=1, keepdims=True)])


def _drain(generator, parts, vocabulary, history):
    """Tokens so far decide which parts are loud, so that remainders differ from branch to branch."""
    rows = _spiky(generator, parts, vocabulary, history)
    quiet = (np.arange(parts) + sum(history)) % 2 == 0
    rows[1:][quiet] = rows[0]
    return rows


def _gap(generator, parts, vocabulary, history):
    """The parts lack a token that is likely in public: the loss is larger in the other direction."""
    public = generator.dirichlet(np.full(vocabulary, 5.0))
    rows = np.repeat(public[None], parts, axis=0)
    rows[:, generator.integers(vocabulary)] = 1e-12
    return np.vstack([public[None], rows / rows.sum(axis=1, keepdims=True)])


KINDS = {"random": _random, "spiky": _spiky, "alone": _alone, "drain": _drain, "gap": _gap}


def transcripts(protocol: Protocol, rows, steps: int, without: int | None = None, how: str = "public"):
    """The law of all transcripts of `steps` tokens, as {tokens: probability}.

    `without` names a part that is not there: its row is the public pmf (the adapter of nothing) or, for
    `how="fault"`, no pmf at all, which the protocol must treat in the same way.
    """
    law: dict[History, float] = {}
    spent = np.zeros(protocol.parts)

    def walk(state: Protocol, history: History, chance: float) -> None:
        if len(history) == steps:
            law[history] = chance
            np.maximum(spent, protocol.remaining - state.remaining, out=spent)
            return
        table = rows(history)
        public, parts = table[0], table[1:].copy()
        if without is not None:
            parts[without] = public if how == "public" else math.nan
        mine = state.copy()
        integers = integer_law(mine.step(public, parts).pmf)
        total = sum(integers)
        for token, n in enumerate(integers):
            if n:
                walk(mine, (*history, token), chance * (n / total))

    walk(protocol, (), 1.0)
    return law, spent


def divergence(here: dict[History, float], there: dict[History, float], alpha: float) -> float:
    """D_alpha of two laws over transcripts, summed exactly."""
    if any(p > 0 and there.get(h, 0.0) == 0 for h, p in here.items()):
        return math.inf
    if math.isinf(alpha):
        return max(math.log(p / there[h]) for h, p in here.items() if p > 0)
    logs = [alpha * math.log(p) - (alpha - 1) * math.log(there[h]) for h, p in here.items() if p > 0]
    top = max(logs)
    return (top + math.log(math.fsum(math.exp(x - top) for x in logs))) / (alpha - 1)


def worst(protocol: Protocol, world: World, steps: int, parts=None, how: str = "public") -> float:
    """The largest divergence, over the parts and both directions, of the world with and without a part."""
    full, spent = transcripts(protocol, world.rows, steps)
    assert (spent <= protocol.epsilon + 1e-12).all()
    found = 0.0
    for part in range(world.parts) if parts is None else parts:
        rest, _ = transcripts(protocol, world.rows, steps, without=part, how=how)
        found = max(found, divergence(full, rest, protocol.alpha), divergence(rest, full, protocol.alpha))
    return found
