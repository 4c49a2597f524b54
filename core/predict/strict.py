"""StrictSubMix: the repair of SubMix that is sound, and the default."""

import math

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InputError
from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows
from core.privacy.renyi import Floats
from core.privacy.sampling import LARGEST_WEIGHT, SLACK
from core.privacy.strict import base_share, strict_weight
from core.privacy.units import PER_NAT, loss_units

ALLOWANCES = ("rolling", "even", "banked")
_LAST_STRETCH = 32  # a remainder is never spread over less than this share of the planned queries
_BANK_GAIN, _BANK_MOST = 3.0, 32.0  # how far a banked allowance may exceed its pace


class StrictSubMix(Protocol):
    """Each part mixes toward the public pmf by its own account, and the answer is the mean of the parts.

    Theorem. For every adaptive adversary and every part, the Renyi divergence of order alpha between the
    transcripts with and without that part is at most epsilon, in both directions. Proof. The weight of part
    i depends on part i, the public pmf, its own remainder and public counts. So after the same transcript
    all other parts are in the same state in both worlds, and one step costs at most rho_i
    (`core.privacy.strict`). prod (P/Q)^alpha exp(-(alpha - 1) rho_i) is then a supermartingale, and the
    rho_i add up to at most epsilon on every transcript.

    A part that is exhausted, missing or faulty answers with the public pmf, weight 0, at no charge: that
    decision looks at this part alone, so nothing of it leaves. There is no STOP.

    allowance: "even" gives every query epsilon / queries. "rolling" gives the pace, what is left of the part
    over the queries left, so that what cheap queries save is spread over the later ones. "banked" gives
    pace min(32, 3 (pace / even pace)^2): a part on pace may pay three times as much for a query that asks
    for it, one that saved may pay more, one that overspent less, so the budget goes where it is wanted and
    never runs dry. All three look at the part's own remainder and public counts, as the proof asks. After
    the planned queries a remainder fades out instead of ending (it is spread over 1/32 of the plan).
    """

    def __init__(
        self,
        parts: int,
        epsilon: float = 2.0,
        alpha: float = 2.0,
        queries: int = 1024,
        *,
        w_max: float = 0.5,
        allowance: str = "rolling",
        remaining: ArrayLike | None = None,
        used: int = 0,
        stopped: bool = False,
    ) -> None:
        base_share(parts, w_max)
        if w_max > LARGEST_WEIGHT:
            raise InputError(f"The largest weight can be {LARGEST_WEIGHT:g} at most (it is {w_max:g}).")
        if allowance not in ALLOWANCES:
            raise InputError(f"The allowance is one of {', '.join(ALLOWANCES)} (it is {allowance!r}).")
        self.w_max, self.allowance = float(w_max), allowance
        super().__init__(parts, epsilon, alpha, queries, remaining=remaining, used=used, stopped=stopped)

    def quote(self, tokens: int) -> float:
        """The most that a part can pay for so many more tokens, whatever it has left.

        Rolling spends the share 1/left of what remains, most when it always does: epsilon (1 - prod (1 -
        1/left)). Otherwise the allowances of a part that has paid nothing so far add up, to epsilon at most.
        """
        left = self._spread_over(self.used + np.arange(max(tokens, 0)))
        if self.allowance == "rolling":
            return float(self.epsilon * (1.0 - np.prod(1.0 - 1.0 / left)))
        most = self._allowances(np.full(left.shape, float(self._budget)), left).sum() / PER_NAT
        return float(min(self.epsilon, most))

    def _answer(self, query: Rows) -> Answer:
        if self.stopped:  # by the curator's hand; the protocol itself never stops
            return self._public_answer(query)
        allowed = np.where(query.good, self._allowed_units(), 0.0)
        room = np.maximum(allowed / PER_NAT - SLACK - 2.0 / PER_NAT, 0.0)
        weights, losses = strict_weight(
            query.rows, query.public, room, self.parts, self.w_max, self.alpha, checked=True
        )
        units = np.where(weights > 0.0, loss_units(losses + SLACK), 0.0)
        kept = units <= allowed  # true by construction; a part for which it failed would not be read
        weights, units = np.where(kept, weights, 0.0), np.where(kept, units, 0.0)
        return Answer(self._mix(query, weights), weights, units, private=bool((weights > 0.0).any()))

    def _mix(self, query: Rows, weights: Floats) -> Floats:
        """(1/k) sum_j (w_j h_j + (1 - w_j) h0), all terms nonnegative."""
        shares = weights / self.parts
        pmf: Floats = np.einsum("i,ij->j", shares, query.rows)
        pmf += (1.0 - shares.sum()) * query.public
        return pmf

    def _allowed_units(self) -> Floats:
        """What each part may pay for this query: from its own remainder and public counts."""
        return self._allowances(self._left, self._spread_over(self.used))

    def _allowances(self, units: Floats, left: Floats) -> Floats:
        even = self._budget / self.queries
        if self.allowance == "even":
            return np.minimum(math.floor(even), units)
        pace = units / left
        if self.allowance == "banked":
            pace = np.minimum(pace * np.minimum(_BANK_GAIN * (pace / even) ** 2, _BANK_MOST), units)
        return np.floor(pace)

    def _spread_over(self, used: ArrayLike) -> Floats:
        """The queries left after `used`, but never below the last stretch of the plan."""
        left = self.queries - np.asarray(used, np.float64)
        return np.maximum(left, math.ceil(self.queries / _LAST_STRETCH))
