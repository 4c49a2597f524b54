"""Privacy loss counted in whole units of 1e-12 nats, so that sums are exact on every database.

Charges round up and grants round down: rounding can only cost the caller, never the people in the corpus.
"""

import math

from core.errors import InputError

UNITS_PER_NAT = 10**12


def round_up(nats: float) -> int:
    """The smallest number of units that covers `nats`, computed exactly."""
    numerator, denominator = nats.as_integer_ratio()
    return -(-numerator * UNITS_PER_NAT // denominator)


def round_down(nats: float) -> int:
    """The largest number of units that `nats` covers, computed exactly."""
    numerator, denominator = nats.as_integer_ratio()
    return numerator * UNITS_PER_NAT // denominator


def to_nats(units: int) -> float:
    """The nearest float that does not round up past `units`: charging exactly what is left is allowed."""
    nats = units / UNITS_PER_NAT
    while nats > 0 and round_up(nats) > units:
        nats = math.nextafter(nats, 0.0)
    return nats


def charges(losses: object) -> tuple[int, ...]:
    """The losses as units, or `InputError` for anything that is not a finite number >= 0."""
    try:
        values = [float(loss) for loss in losses]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("The losses must be a sequence of numbers, one for each part.") from error
    for part, value in enumerate(values, start=1):
        if not math.isfinite(value):
            raise InputError(f"The loss of part {part} is not a finite number, so it cannot be charged.")
        if value < 0:
            raise InputError(f"The loss of part {part} is negative, so it cannot be charged.")
    return tuple(round_up(value) for value in values)
