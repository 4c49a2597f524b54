import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy.units import PER_NAT, budget_units, loss_units, nats, remaining_units

whole = st.integers(0, 10**15)


@given(whole)
def test_units_survive_the_way_through_nats_and_back(count):
    value = float(nats(float(count)))
    assert math.ceil(Decimal(value) * PER_NAT) == count
    assert loss_units(value) == count
    assert remaining_units(value) == count


@given(st.floats(0.0, 1000.0))
def test_losses_round_up(loss):
    assert Decimal(float(loss_units(loss))) >= Decimal(loss) * PER_NAT - Decimal("1e-3") * Decimal(1 + loss)
    assert float(loss_units(loss)) < loss * PER_NAT + 1 + 1e-3 * (1 + loss)


@given(st.floats(1e-11, 1000.0))
def test_budgets_round_down(epsilon):
    assert 0 <= Decimal(epsilon) * PER_NAT - budget_units(epsilon) < 1


def test_what_is_not_a_number_is_nothing_left():
    assert list(remaining_units([math.nan, -1.0, math.inf, 0.5])) == [0.0, 0.0, 1e15, 5e11]


def test_a_loss_that_is_not_a_number_stays_visible():
    assert math.isnan(loss_units(math.nan))
    assert loss_units(math.inf) == math.inf


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e5])
def test_budgets_that_make_no_sense_are_refused(epsilon):
    with pytest.raises(InputError):
        budget_units(epsilon)


def test_arrays_keep_their_shape():
    assert nats(np.zeros((2,))).shape == (2,)
    assert nats(3.0).shape == ()
