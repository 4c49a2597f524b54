import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.privacy import renyi_divergence, symmetric_renyi
from core.privacy.mixing import HalvesRule, LeaveOneOut
from tests.core.privacy.pmfs import language_like, pmf_pairs

ORDERS = [1.5, 2.0, 4.0, 5.5, 8.0, math.inf]


def halves_weight(first, second, public, alpha, beta):
    return HalvesRule(public, alpha, beta).weigh(first, second)


def divergence(first, second, public, weight, alpha):
    a, b = (weight * h + (1 - weight) * public for h in (first, second))
    return renyi_divergence(a, b, alpha)


def by_bisection(first, second, public, alpha, beta):
    if divergence(first, second, public, 1.0, alpha) <= beta:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if divergence(first, second, public, middle, alpha) <= beta:
            low = middle
        else:
            high = middle
    return low


@settings(max_examples=100, deadline=None)
@given(pmf_pairs(positive=True, least=3, most=3), st.sampled_from(ORDERS), st.floats(-6.0, 0.5))
def test_equation_two_agrees_with_bisection(pair, alpha, log_beta):
    public, beta = np.array([0.7, 0.2, 0.1]), 10.0**log_beta
    first, second = pair
    weight = halves_weight(first, second, public, alpha, beta)
    assert weight == pytest.approx(by_bisection(first, second, public, alpha, beta), rel=1e-5, abs=1e-5)
    assert divergence(first, second, public, weight, alpha) <= beta * (1 + 1e-9) + 1e-12


def test_halves_that_agree_are_read_in_full():
    public, half = np.array([0.99, 0.01]), np.array([0.5, 0.5])
    assert halves_weight(half, half, public, 2.0, 1e-6) == 1.0


def test_a_token_that_one_half_lacks_does_not_break_it():
    public = np.array([0.4, 0.3, 0.3])
    first, second = np.array([0.0, 0.5, 0.5]), np.array([0.5, 0.5, 0.0])
    for alpha in ORDERS:
        weight = halves_weight(first, second, public, alpha, 0.01)
        assert 0.0 < weight < 1.0
        assert divergence(first, second, public, weight, alpha) <= 0.01 + 1e-12


@settings(max_examples=100, deadline=None)
@given(pmf_pairs(), st.sampled_from(ORDERS))
def test_the_fast_symmetric_loss_is_the_careful_one(pair, alpha):
    p, q = pair
    assert LeaveOneOut(p, alpha).loss(q) == pytest.approx(symmetric_renyi(p, q, alpha), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [2.0, 4.0])
def test_large_vocabularies(alpha):
    public, first, second = language_like(2, 20_000, seed=6)
    weight = halves_weight(first, second, public, alpha, 2e-3)
    assert divergence(first, second, public, weight, alpha) == pytest.approx(2e-3, rel=1e-5)
