"""What private updates spend: Poisson-sampled Gaussian mechanisms, composed by Opacus' Renyi accountant.

A step takes each flagged sequence with chance q, clips its gradient to C and adds noise of scale sigma C to
the sum. Its Renyi loss depends on q and sigma alone, whether the batch came out empty or not, so every step
counts. The losses of all steps add up, and the best order gives epsilon at the wanted delta.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

# Fractional orders are slow to compute and gain little beyond the small ones; large ones serve low epsilons.
ORDERS: tuple[float, ...] = (
    *(1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75),
    *(order / 2.0 for order in range(8, 20)),
    *(float(order) for order in range(10, 64)),
    *(72.0, 96.0, 128.0, 192.0, 256.0, 512.0),
)
_MECHANISM = "rdp"
_SMALLEST_NOISE, _LARGEST_NOISE = 0.05, 1e4
# The noise that is found for an epsilon is too large by at most this share.
_SEARCH = 1e-3


class PrivacyAccount:
    """The history of private updates, as Opacus keeps it: (noise multiplier, sampling rate, steps)."""

    def __init__(self, history: Sequence[tuple[float, float, int]] = ()) -> None:
        from opacus.accountants import RDPAccountant

        self.accountant = RDPAccountant()
        self.accountant.history = [(float(sigma), float(rate), int(steps)) for sigma, rate, steps in history]

    @property
    def steps(self) -> int:
        """How many updates were accounted."""
        return sum(steps for _, _, steps in self.accountant.history)

    def hook(self, rate: float) -> Callable[[Any], None]:
        """What a DP optimizer calls once in every step."""
        return self.accountant.get_optimizer_hook_fn(sample_rate=rate)

    def epsilon(self, delta: float) -> float:
        """The epsilon spent so far at this delta; infinite where a step added no noise."""
        total: Any = 0.0
        for sigma, rate, steps in self.accountant.history:
            if sigma <= 0.0:
                return math.inf
            total = total + steps * _one_step(sigma, rate)
        return _convert(total, delta) if self.accountant.history else 0.0

    def state(self) -> dict[str, Any]:
        """For JSON."""
        return {"mechanism": _MECHANISM, "history": [list(entry) for entry in self.accountant.history]}

    @staticmethod
    def restore(state: Mapping[str, Any]) -> "PrivacyAccount":
        """From what `state` gave."""
        try:
            if state["mechanism"] != _MECHANISM:
                raise InputError(
                    f"The privacy account is of the kind {state['mechanism']!r}, not {_MECHANISM!r}."
                )
            return PrivacyAccount([(sigma, rate, steps) for sigma, rate, steps in state["history"]])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("The privacy account of this model cannot be read.") from error


def spent(noise: float, rate: float, steps: int, delta: float) -> float:
    """The epsilon of so many steps."""
    return PrivacyAccount([(noise, rate, steps)] if steps else []).epsilon(delta)


def noise_for(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The smallest noise multiplier, to a thousandth, whose steps spend at most epsilon at this delta."""
    from scipy.optimize import brentq

    if not (epsilon > 0.0 and 0.0 < delta < 1.0):
        raise InputError("Epsilon must be above 0, and delta between 0 and 1.")
    if not (0.0 < rate <= 1.0 and steps >= 1):
        raise InputError("Private training needs at least one step and a sampling rate above 0.")

    def excess(log_noise: float) -> float:
        return math.log(max(spent(math.exp(log_noise), rate, steps, delta), 1e-12) / epsilon)

    low, high = _SMALLEST_NOISE, 1.0
    while excess(math.log(high)) > 0.0:
        low, high = high, 2.0 * high
        if high > _LARGEST_NOISE:
            raise InputError(
                f"No amount of noise gives epsilon {epsilon:g} in {steps:,} steps: train for fewer."
            )
    if excess(math.log(low)) <= 0.0:
        return low
    noise = math.exp(brentq(excess, math.log(low), math.log(high), xtol=_SEARCH / 2.0))
    return noise if spent(noise, rate, steps, delta) <= epsilon else noise * (1.0 + _SEARCH)


@lru_cache(maxsize=256)
def _one_step(noise: float, rate: float) -> "np.ndarray":
    from opacus.accountants.analysis.rdp import compute_rdp

    return compute_rdp(q=rate, noise_multiplier=noise, steps=1, orders=list(ORDERS))


def _convert(losses: Any, delta: float) -> float:
    from opacus.accountants.analysis.rdp import get_privacy_spent

    with warnings.catch_warnings():  # the best order may be the last one: epsilon is a bound all the same
        warnings.simplefilter("ignore")
        epsilon, _ = get_privacy_spent(orders=list(ORDERS), rdp=losses, delta=delta)
    return max(0.0, float(epsilon))
