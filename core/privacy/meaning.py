"""One Renyi spend in the currencies of DESIGN 4.4, so that every way in says the same of it."""

from dataclasses import dataclass

from core.privacy.conversions import extraction_bound, partition_to_user, rdp_to_dp

DELTA = 1e-5
CANDIDATES = 10_000


@dataclass(frozen=True)
class Meaning:
    """What (alpha, epsilon)-Renyi privacy of a part says in other words; each has its own condition.

    `user_epsilon` at `user_order` is None where Theorem C.1 does not apply (alpha of 2 or less).
    """

    alpha: float
    epsilon: float
    delta: float
    dp_epsilon: float
    user_order: float | None
    user_epsilon: float | None
    candidates: int
    chance: float


def spend_means(
    alpha: float, epsilon: float, *, candidates: int = CANDIDATES, delta: float = DELTA
) -> Meaning:
    """The same spend as Renyi, as (epsilon, delta), for one user, and for a guesser among m candidates.

    Where nothing was spent the two worlds answer alike: no conversion is needed, and luck is all there is.
    """
    order, user = partition_to_user(alpha, epsilon) if alpha > 2.0 else (None, None)
    return Meaning(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        dp_epsilon=rdp_to_dp(alpha, epsilon, delta) if epsilon > 0.0 else 0.0,
        user_order=order,
        user_epsilon=user,
        candidates=candidates,
        chance=extraction_bound(alpha, epsilon, candidates) if epsilon > 0.0 else 1.0 / candidates,
    )
