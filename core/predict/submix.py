"""SubMix as the paper has it: Algorithm 2 of Ginart et al. (2022), to the letter."""

import numpy as np

from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows
from core.privacy.mixing import HalvesRule, LeaveOneOut
from core.privacy.renyi import Floats
from core.privacy.sampling import SLACK


class SubMix(Protocol):
    """Two halves a part, Equation 2 for each part's weight, one mean weight, leave-one-out losses.

    The losses are debited first; unless every part has some budget left, STOP is issued, the answer comes
    from the public model, and so do all later ones. The target leakage is beta = epsilon / queries
    (Appendix B.1).

    Its Proposition 3.1 holds only when both worlds stop together; run as a service it exceeds epsilon (see
    the tests for a pinned counter-example). `StrictSubMix` is the protocol to trust.

    A faulty half (NaN, no pmf) makes the losses NaN, which closes the budget: STOP, everything charged.
    """

    shape = "halves"

    @property
    def beta(self) -> float:
        """The target leakage of Equation 2."""
        return self.epsilon / self.queries

    def _answer(self, query: Rows) -> Answer:
        if self.stopped or not np.all(self._left > 0.0):
            self.stopped = True
            return self._public_answer(query)
        weights, means = self._weights(query)
        pmf = _mix(means.sum(axis=0), weights.sum(), self.parts, query.public)
        losses = self._losses(pmf, means, weights, query.public)
        if not query.good.all():
            losses[:] = np.nan
        units, some_left = self._affordable(losses + SLACK)
        if not some_left:
            self.stopped = True
            return self._public_answer(query)._replace(units=units)
        return Answer(pmf, weights, units, private=True)

    def _weights(self, query: Rows) -> tuple[Floats, Floats]:
        """Lines 7 to 11: the parts' weights (k,) and mean pmfs (k, S)."""
        rule = HalvesRule(query.public, self.alpha, self.beta)
        weights, means = np.empty(self.parts), np.empty((self.parts, query.public.size))
        one, other = np.empty_like(query.public), np.empty_like(query.public)
        for i in range(self.parts):
            first, second = query.pmf((i, 0), one), query.pmf((i, 1), other)
            weights[i] = rule.weigh(first, second)
            np.add(first, second, out=means[i])
        means *= 0.5
        return weights, means

    def _losses(self, pmf: Floats, means: Floats, weights: Floats, public: Floats) -> Floats:
        """Lines 13 to 19. The sums over the others come from both ends, so no mass is ever subtracted."""
        k = self.parts
        after = np.empty_like(means)
        after[-1] = 0.0
        for i in range(k - 2, -1, -1):
            np.add(after[i + 1], means[i + 1], out=after[i])
        before = np.zeros_like(public)
        losses, compared = np.empty(k), LeaveOneOut(pmf, self.alpha)
        for i in range(k):
            without = after[i]
            without += before
            weight = float(np.delete(weights, i).sum())
            losses[i] = compared.loss(_mix(without, weight, k - 1, public))
            before += means[i]
        return losses


def _mix(total: Floats, weight_sum: float, count: int, public: Floats) -> Floats:
    """weight mean + (1 - weight) public, from the sums over `count` parts."""
    weight = min(weight_sum / count, 1.0)
    pmf = total * (weight / count)
    pmf += (1.0 - weight) * public
    return pmf
