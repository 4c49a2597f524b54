"""The two baselines that add noise: subsample-and-aggregate (Appendix B.3) and GNMax (Appendix B.4)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from core.errors import InputError
from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows
from core.privacy.noise import gnmax_data_dependent, laplace_shift, noisy_winner
from core.privacy.sampling import SLACK
from core.privacy.units import PER_NAT


class SubsampleAggregate(Protocol):
    """The mean of the parts' pmfs plus Laplace noise, cut at zero and normalised, for a fixed price.

    In the world without part i its pmf is the public one, so the mean moves by at most 2/k in L1 and the
    scale is (2/k) over the shift that epsilon / queries buys. After the planned queries the public model
    answers. A baseline: its noise is float64 and not exact as the sampler of the other protocols is.
    """

    def __init__(
        self,
        parts: int,
        epsilon: float = 2.0,
        alpha: float = 2.0,
        queries: int = 1024,
        *,
        generator: np.random.Generator | None = None,
        remaining: ArrayLike | None = None,
        used: int = 0,
        stopped: bool = False,
    ) -> None:
        super().__init__(parts, epsilon, alpha, queries, remaining=remaining, used=used, stopped=stopped)
        self._price = float(self._budget // self.queries)
        self.scale = (2.0 / self.parts) / laplace_shift(self.alpha, self._price / PER_NAT - SLACK)
        self._generator = generator or np.random.default_rng()

    def quote(self, tokens: int) -> float:
        """Every query costs the same until the planned number is reached."""
        ahead = min(max(tokens, 0), max(self.queries - self.used, 0))
        return ahead * self._price / PER_NAT

    def _answer(self, query: Rows) -> Answer:
        if self.stopped or self.used >= self.queries or not np.all(self._left >= self._price):
            return self._public_answer(query)
        noisy = query.pmfs.mean(axis=0)
        noisy += self._generator.laplace(scale=self.scale, size=noisy.size)
        np.maximum(noisy, 0.0, out=noisy)
        total = noisy.sum()
        pmf = noisy / total if total > 0.0 else query.public
        return Answer(pmf, np.ones(self.parts), np.full(self.parts, self._price), private=True)


class GNMax(Protocol):
    """Each part votes for its likeliest token; the winner after Gaussian noise is the answer.

    `pmf` is the law of that winner, computed exactly instead of drawn, and sampled like every other law.
    Unless `sigma` is given, it is the one that pays for all planned queries without looking at the data:
    sqrt(alpha queries / epsilon). Each vote is charged by the data-dependent bound, so more queries fit;
    the debit comes first, and when a part has nothing left the public model answers from then on. That
    the bound is a function of the data, and so is the moment of stopping, is the known weakness of this
    account: a baseline, not a guarantee.
    """

    def __init__(
        self,
        parts: int,
        epsilon: float = 2.0,
        alpha: float = 2.0,
        queries: int = 1024,
        *,
        sigma: float | None = None,
        remaining: ArrayLike | None = None,
        used: int = 0,
        stopped: bool = False,
    ) -> None:
        super().__init__(parts, epsilon, alpha, queries, remaining=remaining, used=used, stopped=stopped)
        if math.isinf(self.alpha):
            raise InputError("Gaussian noise has no finite loss at order infinity; choose a finite order.")
        self.sigma = math.sqrt(self.alpha * self.queries / self.epsilon) if sigma is None else float(sigma)
        if not self.sigma > 0.0:
            raise InputError("The noise of GNMax must be above zero.")

    def _answer(self, query: Rows) -> Answer:
        if self.stopped or not np.all(self._left > 0.0):
            self.stopped = True
            return self._public_answer(query)
        votes = np.bincount(query.rows.argmax(axis=1), minlength=query.public.size).astype(np.float64)
        loss = gnmax_data_dependent(self.alpha, self.sigma, votes[votes > 0.0], votes.size)
        units, some_left = self._affordable(loss + SLACK)
        if not some_left:
            self.stopped = True
            return self._public_answer(query)._replace(units=units)
        return Answer(noisy_winner(votes, self.sigma), np.ones(self.parts), units, private=True)
