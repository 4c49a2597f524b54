import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy import renyi_divergence, symmetric_renyi
from tests.core.privacy.pmfs import language_like, pmf_pairs

orders = st.one_of(st.floats(1.05, 64.0), st.just(math.inf), st.just(2.0))


def exact(p, q, alpha):
    """The definition, with forty digits."""
    with mpmath.workdps(40):
        pairs = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(p, q, strict=True)]
        if math.isinf(alpha):
            return mpmath.log(max(a / b for a, b in pairs if a > 0))
        total = mpmath.fsum(a ** mpmath.mpf(alpha) * b ** (1 - mpmath.mpf(alpha)) for a, b in pairs if a > 0)
        return mpmath.log(total) / (alpha - 1)


@pytest.mark.parametrize("alpha", [2.0, 4.0, pytest.param(1.5, marks=pytest.mark.slow)])
def test_agrees_with_mpmath_on_a_gpt2_vocabulary(alpha):
    p, q = language_like(1, 50_257, seed=3)
    assert abs(renyi_divergence(p, q, alpha) - float(exact(p, q, alpha))) < 1e-9


def test_known_values():
    p, q = np.array([0.5, 0.5]), np.array([0.99, 0.01])
    assert renyi_divergence(p, q, 2) == pytest.approx(math.log(0.25 / 0.99 + 0.25 / 0.01), abs=1e-14)
    assert renyi_divergence(p, q, math.inf) == pytest.approx(math.log(50.0), abs=1e-14)
    assert symmetric_renyi(p, q, 2) == renyi_divergence(p, q, 2) > renyi_divergence(q, p, 2)


@settings(max_examples=150, deadline=None)
@given(pmf_pairs(), orders)
def test_never_negative_never_nan_and_zero_only_when_equal(pair, alpha):
    p, q = pair
    value = renyi_divergence(p, q, alpha)
    assert value >= 0.0
    assert renyi_divergence(p, p, alpha) == 0.0
    if value == 0.0:
        assert np.allclose(p, q, rtol=0.0, atol=1e-7)
    if np.abs(p - q).max() > 1e-7:
        assert value > 0.0


@settings(max_examples=150, deadline=None)
@given(pmf_pairs(), st.floats(1.05, 40.0), st.floats(1.0, 3.0))
def test_grows_with_the_order(pair, alpha, factor):
    p, q = pair
    low, high = renyi_divergence(p, q, alpha), renyi_divergence(p, q, alpha * factor)
    assert low <= high * (1 + 1e-9) + 1e-12
    assert high <= renyi_divergence(p, q, math.inf) * (1 + 1e-9) + 1e-12


@settings(max_examples=60, deadline=None)
@given(pmf_pairs(), st.floats(1.05, 20.0))
def test_agrees_with_mpmath_on_zeros_and_subnormals(pair, alpha):
    p, q = pair
    missing = bool((p[q == 0.0] > 0.0).any())
    value = renyi_divergence(p, q, alpha)
    if missing:
        assert value == math.inf
    else:
        held = q > 0.0
        truth = float(exact(p[held] / p.sum(), q[held] / q.sum(), alpha))
        assert value == pytest.approx(max(truth, 0.0), rel=1e-9, abs=1e-9)


def test_missing_support_is_infinite_one_way_only():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([1.0, 0.0, 0.0])
    for alpha in (1.5, 2.0, math.inf):
        assert renyi_divergence(p, q, alpha) == math.inf
        assert renyi_divergence(q, p, alpha) == pytest.approx(math.log(2.0))
        assert symmetric_renyi(p, q, alpha) == math.inf


@pytest.mark.parametrize(
    "broken", [[math.nan, 0.5], [0.5, 0.4], [1.5, -0.5], [math.inf, 0.0], [0.0, 0.0], [math.nan, math.nan]]
)
def test_what_is_no_pmf_costs_infinity(broken):
    fine = np.array([0.5, 0.5])
    for alpha in (1.5, 2.0, math.inf):
        assert renyi_divergence(broken, fine, alpha) == math.inf
        assert renyi_divergence(fine, broken, alpha) == math.inf


def test_subnormal_mass_is_finite_where_the_truth_is():
    p, q = np.array([0.5, 0.5]), np.array([1.0, 5e-324])
    assert renyi_divergence(p, q, 2) == pytest.approx(float(exact(p, q, 2)), abs=1e-9)
    assert renyi_divergence(p, q, 8) == pytest.approx(float(exact(p, q, 8)), abs=1e-9)


def test_rows_are_taken_one_by_one():
    rows = language_like(3, 50, seed=1)
    batch = renyi_divergence(rows[1:], rows[0], 3.0)
    assert batch.shape == (3,)
    assert list(batch) == [renyi_divergence(row, rows[0], 3.0) for row in rows[1:]]


@pytest.mark.parametrize("alpha", [1.0, 0.5, -2.0, math.nan])
def test_orders_up_to_one_are_refused(alpha):
    with pytest.raises(InputError, match="above 1"):
        renyi_divergence([0.5, 0.5], [0.5, 0.5], alpha)


def test_vocabularies_must_match():
    with pytest.raises(InputError):
        renyi_divergence([0.5, 0.5], [0.2, 0.3, 0.5], 2)
