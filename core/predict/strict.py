"""StrictSubMix: the repair of SubMix that is sound, and the default."""

import math

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InputError
from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows
from core.privacy.sampling import LARGEST_WEIGHT, SLACK
from core.privacy.strict import StrictRule, base_share
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
        ahead = [self._spread_over(self.used + token) for token in range(tokens)]
        if self.allowance == "rolling":
            return self.epsilon * (1.0 - math.prod(1.0 - 1.0 / left for left in ahead))
        most = sum(self._allowance(float(self._budget), left) for left in ahead) / PER_NAT
        return min(self.epsilon, most)

    def _answer(self, query: Rows) -> Answer:
        if self.stopped:  # by the curator's hand; the protocol itself never stops
            return self._public_answer(query)
        rule = StrictRule(query.public, self.parts, self.w_max, self.alpha, checked=True)
        weights, units = [0.0] * self.parts, [0.0] * self.parts
        pmf, held = np.zeros(query.public.size), np.empty(query.public.size)
        with np.errstate(all="ignore"):
            for i, most in enumerate(self._allowed_units()):  # each part by itself
                allowed = most if query.good[i] else 0.0
                part, mass = query.masses(i, held)
                weight, loss = rule.weigh(part, allowed / PER_NAT - SLACK - 2.0 / PER_NAT, mass)
                price = float(loss_units(loss + SLACK))
                if weight > 0.0 and price <= allowed:  # the latter by construction; else it is not read
                    weights[i], units[i] = weight, price
                pmf += np.multiply(part, weights[i] / self.parts / mass, out=held)
            pmf += np.multiply(query.public, 1.0 - sum(weights) / self.parts, out=held)
        return Answer(pmf, np.array(weights), np.array(units), private=any(weights))

    def _allowed_units(self) -> list[float]:
        """What each part may pay for this query: from its own remainder and public counts."""
        left = self._spread_over(self.used)
        return [self._allowance(units, left) for units in self._left.tolist()]

    def _allowance(self, units: float, left: float) -> float:
        even = self._budget / self.queries
        if self.allowance == "even":
            return min(float(math.floor(even)), units)
        pace = units / left
        if self.allowance == "banked":
            pace = min(pace * min(_BANK_GAIN * (pace / even) ** 2, _BANK_MOST), units)
        return float(math.floor(pace))

    def _spread_over(self, used: int) -> float:
        """The queries left after `used`, but never below the last stretch of the plan."""
        return float(max(self.queries - used, math.ceil(self.queries / _LAST_STRETCH)))
