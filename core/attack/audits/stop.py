"""The STOP attack: telling two worlds apart by when the paper's SubMix falls silent.

Alpha 2, epsilon 1, six questions. The public model says (.99, .01), three parts whose halves agree say
(.5, .5), (.9, .1) and (.1, .9). By the paper's account the first part pays nothing, for the answer with it is
the answer without it. But without it each of the two others pays so much that the budget ends at the first
token, and with it they answer five tokens. So whoever sees the rare token knows that the first part is
there: the divergence over six tokens is 16.14, not 1.

The games are live: a ledger, an account, the real sampler. StrictSubMix has no STOP to look at, and the same
attacker on it stays within what epsilon allows.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from core.attack.audits.audit import Counts, most_advantage, renyi_bound
from core.attack.audits.scratch_ledger import scratch_ledger
from core.attack.intervals import CONFIDENCE, Interval, clopper_pearson
from core.attack.watch import SILENT, Watch
from core.errors import InputError
from core.predict.account import Account
from core.predict.decoding import Decoded
from core.predict.terms import protocol_under
from core.store import Ledger
from core.store.budget import Terms

EPSILON, ALPHA, QUERIES = 1.0, 2.0, 6
PUBLIC = (0.99, 0.01)
PARTS = ((0.5, 0.5), (0.9, 0.1), (0.1, 0.9))
RARE = 1
DIVERGENCE = 16.14  # of order 2, over six tokens, by enumeration of all transcripts
StopProtocol = Literal["submix", "strict"]
_TITLES: dict[StopProtocol, str] = {"submix": "SubMix", "strict": "Strict"}


@dataclass(frozen=True)
class Stopped:
    """How often the attacker said "the part is there" with it and without it, and what that shows."""

    protocol: StopProtocol
    counts: Counts
    advantage: Interval
    allowed: float  # the most that epsilon allows
    bound: float  # on the Renyi divergence, from below

    @property
    def told_apart(self) -> bool:
        """Whether the worlds were told apart better than epsilon allows."""
        return self.bound > EPSILON


def stop_attack(
    protocol: StopProtocol, *, games: int = 100, confidence: float = CONFIDENCE, watch: Watch = SILENT
) -> Stopped:
    """Play both worlds; the attacker says "there" where the rare token came within six tokens."""
    if protocol not in ("submix", "strict"):
        raise InputError("The STOP attack is played on `submix` and on `strict`.")
    if games < 2:
        raise InputError("Two games on each side are the least that can be played.")
    seen = []
    with scratch_ledger() as ledger:
        for missing in (False, True):
            hits = 0
            for game in range(games):
                watch.at(
                    (game + games * missing) / (2 * games),
                    f"game {game + games * missing + 1} of {2 * games} on {_TITLES[protocol]}",
                )
                hits += RARE in _answers(ledger, protocol, f"{missing}-{game}", missing=missing)
            seen.append(hits)
    counts = Counts(seen[0], games, seen[1], games)
    return Stopped(
        protocol,
        counts,
        _advantage(counts, confidence),
        most_advantage(ALPHA, EPSILON),
        renyi_bound(counts, ALPHA, confidence),
    )


def _answers(ledger: Ledger, protocol: StopProtocol, name: str, *, missing: bool) -> list[int]:
    """Six tokens in one world, each debited in the ledger before it is drawn."""
    parts = _parts(protocol, missing)
    models = np.asarray([PUBLIC, *(parts if protocol == "strict" else np.repeat(parts, 2, axis=0))])
    terms = Terms(len(parts), EPSILON, ALPHA, QUERIES, protocol, synthetic=True)
    ledger.open_budget(name, **asdict(terms))
    account = Account(name, protocol_under(terms), ledger)
    decoded = Decoded(models)
    return [account.draw(decoded).token for _ in range(QUERIES)]


def _parts(protocol: StopProtocol, missing: bool) -> Sequence[tuple[float, float]]:
    """SubMix without a part has one part less; Strict has the public model in its place."""
    if not missing:
        return PARTS
    return PARTS[1:] if protocol == "submix" else (PUBLIC, *PARTS[1:])


def _advantage(counts: Counts, confidence: float) -> Interval:
    """The difference of the two chances; the limits of each take half of the error."""
    half = 1.0 - 0.5 * (1.0 - confidence)
    first = clopper_pearson(counts.hits_with, counts.games_with, half)
    second = clopper_pearson(counts.hits_without, counts.games_without, half)
    return Interval(first.value - second.value, first.low - second.high, first.high - second.low, confidence)
