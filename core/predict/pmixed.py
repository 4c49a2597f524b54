"""PMixED (Flemings, Razaviyayn and Annavaram 2024): every part within a ball about the public pmf."""

import math

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InputError
from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows
from core.privacy.curve import Curve
from core.privacy.sampling import LARGEST_WEIGHT, SLACK
from core.privacy.units import PER_NAT


class PMixED(Protocol):
    """g_i = l_i h_i + (1 - l_i) h0, l_i the largest whose symmetric divergence from h0 is within a radius.

    The answer is the mean of the g_i; every query costs the same, whatever the data, and after the planned
    number of queries the public model answers. No subsampling of parts.

    Cost. Without part i, g_i is h0, so the laws are the means of (g_1, .., g_i, .., g_k) and of
    (g_1, .., h0, .., g_k). (p, q) -> sum p^a q^(1-a) is jointly convex, hence
    sum P^a Q^(1-a) <= (k - 1)/k + (1/k) exp((a - 1) D_a(g_i || h0)), and likewise the other way, so a query
    costs at most log((k - 1 + exp((a - 1) radius)) / k) / (a - 1). The paper writes radius = beta a, removes
    the part from the mean instead, and has 4 beta a in the exponent by a triangle inequality that needs the
    bound at every order; here it holds at the one order that is checked, without the factor.
    """

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
        super().__init__(parts, epsilon, alpha, queries, remaining=remaining, used=used, stopped=stopped)
        if math.isinf(self.alpha):
            raise InputError("PMixED is accounted at a finite Renyi order.")
        self._price = float(self._budget // self.queries)
        self.radius = self._radius(max(self._price / PER_NAT - SLACK - 2.0 / PER_NAT, 0.0))

    def quote(self, tokens: int) -> float:
        """Every query costs the same until the planned number is reached."""
        ahead = min(max(tokens, 0), max(self.queries - self.used, 0))
        return ahead * self._price / PER_NAT

    def _radius(self, cost: float) -> float:
        power = (self.alpha - 1.0) * cost
        if power > 300.0:
            return (power + math.log(self.parts)) / (self.alpha - 1.0)
        return math.log1p(self.parts * math.expm1(power)) / (self.alpha - 1.0)

    def _answer(self, query: Rows) -> Answer:
        if self.stopped or self.used >= self.queries:
            return self._public_answer(query)
        target = math.expm1(min((self.alpha - 1.0) * self.radius, 700.0)) * (1.0 - 1e-12)
        may = query.good & (self._left >= self._price) & (target > 0.0)
        curve, weights = Curve(query.public, self.alpha), np.zeros(self.parts)
        pmf, held = np.zeros(query.public.size), np.empty(query.public.size)
        with np.errstate(all="ignore"):
            for i in range(self.parts):
                part = query.pmf(i, held)
                curve.read(part)
                if may[i]:
                    weights[i], _ = curve.largest(target, LARGEST_WEIGHT)
                pmf += weights[i] / self.parts * part
        pmf += (1.0 - weights.sum() / self.parts) * query.public
        units = np.minimum(self._price, self._left)
        return Answer(pmf, weights, units, private=bool((weights > 0.0).any()))
