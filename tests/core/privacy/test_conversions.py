import math

import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy import extraction_bound, partition_to_user, rdp_to_dp, rdp_to_dp_mironov


@pytest.mark.parametrize(("alpha", "golden"), [(2, 12.1266), (4, 5.0879), (16, 2.5182)])
def test_tight_conversion_has_the_golden_values(alpha, golden):
    assert rdp_to_dp(alpha, 2.0, 1e-5) == pytest.approx(golden, abs=5e-5)


@settings(max_examples=60, deadline=None)
@given(st.floats(1.1, 200.0), st.floats(0.05, 20.0), st.floats(-9.0, -1.0))
def test_agrees_with_google_where_both_speak(alpha, epsilon, log_delta):
    delta = 10.0**log_delta
    theirs, _ = rdp_privacy_accountant.compute_epsilon([alpha], [epsilon], delta)
    ours = rdp_to_dp(alpha, epsilon, delta)
    # Google returns 0 early when the Renyi loss is so small that delta alone covers it.
    assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12) or theirs < ours
    if delta**2 + math.expm1(-epsilon) <= 0:
        assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12)


@given(st.floats(1.1, 100.0), st.floats(0.0, 10.0), st.floats(1e-10, 0.1))
def test_tight_conversion_is_never_looser_than_mironovs(alpha, epsilon, delta):
    assert rdp_to_dp(alpha, epsilon, delta) <= rdp_to_dp_mironov(alpha, epsilon, delta) + 1e-12


def test_mironovs_conversion_and_the_limit():
    assert rdp_to_dp_mironov(2, 2, 1e-5) == pytest.approx(2 + math.log(1e5))
    assert rdp_to_dp(math.inf, 2, 1e-5) == rdp_to_dp_mironov(math.inf, 2, 1e-5) == 2
    assert rdp_to_dp(1e9, 2, 1e-5) == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize(("alpha", "factor"), [(3, 3.0), (4, 2.5), (8, 2.1666666666666665), (math.inf, 2.0)])
def test_user_level_factors(alpha, factor):
    order, epsilon = partition_to_user(alpha, 2.0)
    assert order == alpha / 2
    assert epsilon == pytest.approx(2.0 * factor)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_no_user_level_conversion_up_to_order_two(alpha):
    with pytest.raises(InputError, match="above 2"):
        partition_to_user(alpha, 2.0)


def test_extraction_bound():
    assert extraction_bound(2, 2.0, 10**6) == pytest.approx(math.sqrt(math.exp(2) / 1e6))
    assert extraction_bound(math.inf, 0.0, 4) == pytest.approx(0.25)
    assert extraction_bound(2, 2.0, 1) == 1.0
    assert extraction_bound(2, 1e6, 10) == 1.0
    with pytest.raises(InputError):
        extraction_bound(2, 2.0, 0)


@pytest.mark.parametrize("m", [2, 5, 100])
def test_extraction_bound_holds_for_randomised_response(m):
    """Answering right with chance p and any wrong one alike: its Renyi loss against uniform is known."""
    for p in (0.2, 0.5, 0.9):
        if p > 1 / m:
            for alpha in (1.5, 2.0, 8.0):
                moment = m ** (alpha - 1) * (p**alpha + (1 - p) ** alpha * (m - 1) ** (1 - alpha))
                assert p <= extraction_bound(alpha, math.log(moment) / (alpha - 1), m) + 1e-12


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_delta_must_be_a_chance(delta):
    with pytest.raises(InputError):
        rdp_to_dp(2, 1, delta)


def test_epsilon_must_be_a_number():
    for bad in (-1.0, math.nan):
        with pytest.raises(InputError):
            rdp_to_dp(2, bad, 1e-5)
