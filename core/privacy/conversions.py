"""What a Renyi budget means in other currencies, each with its condition."""

import math

from core.errors import InputError
from core.privacy.renyi import check_order


def rdp_to_dp(alpha: float, epsilon: float, delta: float) -> float:
    """The epsilon of (epsilon, delta)-DP that (alpha, epsilon)-RDP gives, by the tight conversion.

    epsilon + log(1 - 1/alpha) - log(alpha delta) / (alpha - 1) (Canonne, Kamath and Steinke 2020,
    Proposition 12); never below zero. At alpha infinity RDP is pure DP, whatever delta.
    """
    alpha, epsilon, delta = check_order(alpha), _check_epsilon(epsilon), _check_delta(delta)
    if math.isinf(alpha):
        return epsilon
    return max(0.0, epsilon + math.log1p(-1.0 / alpha) - math.log(alpha * delta) / (alpha - 1.0))


def rdp_to_dp_mironov(alpha: float, epsilon: float, delta: float) -> float:
    """The looser conversion epsilon + log(1/delta) / (alpha - 1) of Mironov (2017), as in the paper."""
    alpha, epsilon, delta = check_order(alpha), _check_epsilon(epsilon), _check_delta(delta)
    return epsilon if math.isinf(alpha) else epsilon - math.log(delta) / (alpha - 1.0)


def partition_to_user(alpha: float, epsilon: float) -> tuple[float, float]:
    """User-level (order, epsilon) of a partition-level guarantee: Theorem C.1 of the paper.

    Both worlds that differ in one user's data lie within epsilon of the world without that user's part.
    The weak triangle inequality D_{a/2}(M||M') <= (a-1)/(a-2) D_a(M||M'') + D_{a-1}(M''||M') gives
    (alpha/2, (2 alpha - 3)/(alpha - 2) epsilon), for alpha above 2 only; in the limit factor 2.
    """
    alpha, epsilon = check_order(alpha), _check_epsilon(epsilon)
    if alpha <= 2.0:
        raise InputError(
            f"There is no user-level conversion at order {alpha:g}: Theorem C.1 needs an order above 2. "
            "The guarantee for a whole part, which holds the user, stands as it is."
        )
    if math.isinf(alpha):
        return math.inf, 2.0 * epsilon
    return alpha / 2.0, (2.0 * alpha - 3.0) / (alpha - 2.0) * epsilon


def extraction_bound(alpha: float, epsilon: float, candidates: int) -> float:
    """The chance, at most, that an attacker names the right one of m equally likely candidates.

    Without the part the guess is right with chance 1/m (averaged over the secret). Renyi privacy of order
    alpha moves the chance of an event to at most (e^epsilon / m)^((alpha - 1)/alpha) (Mironov 2017,
    Proposition 10). Condition: all copies of the secret lie in one part.
    """
    alpha, epsilon = check_order(alpha), _check_epsilon(epsilon)
    if candidates < 1:
        raise InputError("There must be at least one candidate.")
    power = 1.0 if math.isinf(alpha) else (alpha - 1.0) / alpha
    return math.exp(min(0.0, power * (epsilon - math.log(candidates))))


def _check_epsilon(epsilon: float) -> float:
    epsilon = float(epsilon)
    if not epsilon >= 0.0:
        raise InputError(f"Epsilon must be zero or more (it is {epsilon:g}).")
    return epsilon


def _check_delta(delta: float) -> float:
    delta = float(delta)
    if not 0.0 < delta < 1.0:
        raise InputError(f"Delta must lie between 0 and 1 (it is {delta:g}); 1e-5 is the usual choice.")
    return delta
