import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.store.units import UNITS_PER_NAT, charges, round_down, round_up, to_nats

amounts = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(amounts)
def test_a_charge_never_rounds_below_the_loss_nor_a_grant_above_epsilon(nats: float):
    exact = Fraction(nats) * UNITS_PER_NAT
    assert 0 <= round_up(nats) - exact < 1
    assert 0 <= exact - round_down(nats) < 1


@given(st.integers(min_value=0, max_value=10**18))
def test_charging_exactly_what_is_left_is_covered_by_what_is_left(units: int):
    shown = to_nats(units)
    assert round_up(shown) <= units
    assert math.isclose(shown, units / UNITS_PER_NAT, rel_tol=1e-15, abs_tol=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1e-300, -1.0])
def test_losses_that_are_no_amounts_are_refused(bad: float):
    with pytest.raises(InputError, match="part 2"):
        charges([0.1, bad])


@pytest.mark.parametrize("bad", [None, 3, ["a"], [None], [10**400]])
def test_losses_that_are_no_numbers_are_refused(bad: object):
    with pytest.raises(InputError):
        charges(bad)


def test_the_smallest_loss_still_costs_a_unit():
    assert charges([5e-324, 0.0, -0.0]) == (1, 0, 0)
