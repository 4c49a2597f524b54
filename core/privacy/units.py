"""Nats as whole units of 1e-12, so that budgets add up exactly in memory and in the ledger.

Losses round up and budgets round down. The units travel as float64 that hold whole numbers (exact up to
2^53 units, 9,007 nats; budgets end at 1,000), so that a NaN or an infinity stays visible until the budget
is checked.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError

PER_NAT = 10**12
LARGEST = 1_000.0  # nats: enough for any budget, and units stay exact in float64 with room to spare

Floats = NDArray[np.float64]


def budget_units(epsilon: float) -> int:
    """The whole units in a budget of `epsilon` nats, rounded down."""
    if not 0.0 < epsilon <= LARGEST:
        raise InputError(f"Epsilon must be above 0 and at most {LARGEST:g} (it is {epsilon:g}).")
    return _floor(epsilon)


def _floor(value: float) -> int:
    """`value` nats in whole units, rounded down exactly."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * PER_NAT // denominator


def loss_units(losses: ArrayLike) -> Floats:
    """Losses in nats as whole units, rounded up; NaN stays NaN and infinity stays infinity."""
    return np.ceil(np.asarray(losses, np.float64) * PER_NAT)


def nats(units: ArrayLike) -> Floats:
    """Units as nats: the largest float at most units / 10^12.

    So a ledger that rounds such a loss up again, in floats or in decimals, gets the same units back.
    """
    whole = np.asarray(units, np.float64)
    return np.array([_at_most(count) for count in whole.ravel().tolist()]).reshape(whole.shape)


def _at_most(count: float) -> float:
    value = count / PER_NAT
    if not math.isfinite(value):
        return value
    numerator, denominator = value.as_integer_ratio()
    return value if numerator * PER_NAT <= int(count) * denominator else math.nextafter(value, -math.inf)


def remaining_units(remaining: ArrayLike) -> Floats:
    """Remainders read back from a ledger, in nats, as whole units rounded down.

    A value that `nats` made of whole units gives these units back. What is not a number, or negative, is
    nothing left.
    """
    values = np.asarray(remaining, np.float64)
    return np.array([_whole(value) for value in values.ravel().tolist()]).reshape(values.shape)


def _whole(value: float) -> float:
    if not value > 0.0:  # also NaN
        return 0.0
    value = min(value, LARGEST)
    nearest = float(round(value * PER_NAT))
    if value == nearest / PER_NAT or value == _at_most(nearest):
        return nearest
    return float(_floor(value))
