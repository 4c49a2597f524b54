"""What added noise costs: the Laplace mechanism, and the noisy vote of GNMax."""

import math

import numpy as np

from core.errors import InputError
from core.privacy.renyi import Floats, check_order

_GRID = 4001


def laplace_rdp(alpha: float, shift: float) -> float:
    """Renyi loss of Laplace noise of scale 1 on a vector that may move by `shift` in L1 (Mironov 2017).

    For one coordinate: log(a/(2a-1) e^((a-1) s) + (a-1)/(2a-1) e^(-a s)) / (a - 1). It is convex in s and
    zero at 0, hence superadditive: of all ways to spread the shift over coordinates, one alone is the worst.
    """
    alpha = check_order(alpha)
    if math.isinf(alpha):
        return shift
    first = math.log(alpha / (2.0 * alpha - 1.0)) + (alpha - 1.0) * shift
    second = math.log((alpha - 1.0) / (2.0 * alpha - 1.0)) - alpha * shift
    return max(0.0, float(np.logaddexp(first, second)) / (alpha - 1.0))


def laplace_shift(alpha: float, loss: float) -> float:
    """The largest shift, in scales of the noise, whose Renyi loss is at most `loss`."""
    from scipy.optimize import brentq

    if not loss > 0.0:
        raise InputError("The Laplace mechanism needs a loss above zero for every query.")
    high = loss + 2.0
    while laplace_rdp(alpha, high) <= loss:
        high *= 2.0
    return float(brentq(lambda s: laplace_rdp(alpha, s) - loss, 0.0, high, xtol=1e-15)) * (1.0 - 1e-9)


def gnmax_rdp(alpha: float, sigma: float) -> float:
    """Data-independent loss of one GNMax vote: two counts move by one each, so alpha / sigma^2."""
    return check_order(alpha) / sigma**2


def gnmax_data_dependent(alpha: float, sigma: float, votes: Floats, tokens: int) -> float:
    """Data-dependent loss of one GNMax vote: Theorem 6 with Propositions 7 and 10 of Papernot et al. (2018).

    q bounds the chance that the noisy winner is not the true one, 1/2 sum erfc((n* - n_x) / (2 sigma)).
    With mu2 = sigma sqrt(log 1/q), mu1 = mu2 + 1 and eps(mu) = mu / sigma^2,

        loss <= log((1 - q) A^(a-1) + q B^(a-1)) / (a - 1),
        A = (1 - q) / (1 - (q e^eps(mu2))^((mu2-1)/mu2)),   B = e^eps(mu1) / q^(1/(mu1-1)),

    under its conditions; otherwise, or where it is larger, the data-independent loss. `votes` are the
    counts above zero, `tokens` the size of the support. The figure is itself a function of private data.
    """
    from scipy.special import erfc

    plain = gnmax_rdp(alpha, sigma)
    ordered = np.sort(votes)[::-1]
    misses = erfc((ordered[0] - ordered[1:]) / (2.0 * sigma)).sum()
    misses += (tokens - len(ordered)) * erfc(ordered[0] / (2.0 * sigma))
    q = min(0.5 * float(misses), 1.0)
    if q <= 0.0:
        return 0.0
    if q >= 1.0:
        return plain
    mu2 = sigma * math.sqrt(-math.log(q))
    mu1 = mu2 + 1.0
    if alpha > mu1 or mu2 <= 1.0:
        return plain
    eps1, eps2 = mu1 / sigma**2, mu2 / sigma**2
    limit = (mu2 - 1.0) * eps2 - mu2 * math.log(mu1 / (mu1 - 1.0) * mu2 / (mu2 - 1.0))
    if math.log(q) > limit:
        return plain
    log_a = math.log1p(-q) - math.log1p(-math.exp((math.log(q) + eps2) * (mu2 - 1.0) / mu2))
    log_b = eps1 - math.log(q) / (mu1 - 1.0)
    a1 = alpha - 1.0
    total = np.logaddexp(math.log1p(-q) + a1 * log_a, math.log(q) + a1 * log_b)
    return float(min(plain, max(0.0, float(total) / a1)))


def noisy_winner(votes: Floats, sigma: float) -> Floats:
    """The law of argmax(votes + N(0, sigma^2)), by quadrature: tokens with equal votes share alike.

    P(x wins) is the integral of phi(z - n_x) prod_{y != x} Phi(z - n_y), all in units of sigma.
    """
    from scipy.special import log_ndtr

    counts, members = np.unique(votes, return_inverse=True)
    sizes = np.bincount(members)
    z = np.linspace((counts.min()) / sigma - 12.0, counts.max() / sigma + 12.0, _GRID)[:, None]
    centred = z - counts / sigma
    log_below = log_ndtr(centred)
    density = -0.5 * centred**2 + (log_below @ sizes)[:, None] - log_below
    share = np.exp(density).sum(axis=0)
    law: Floats = share[members] / float(share @ sizes)
    return law
