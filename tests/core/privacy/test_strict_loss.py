import itertools
import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy import renyi_divergence, strict_loss, strict_weight
from core.privacy.curve import Curve
from core.privacy.strict import StrictRule, base_share
from tests.core.privacy.pmfs import language_like, pmf_pairs

ORDERS = [1.1, 1.5, 2.0, 3.0, 4.0, 7.3, 8.0, 16.0, math.inf]


def exact_loss(part, public, weight, k, w_max, alpha):
    """The formula of the statement, with forty digits."""
    with mpmath.workdps(40):
        m = mpmath.mpf
        kappa = 1 / m(k) + (1 - m(w_max)) * (k - 1) / m(k)

        def f(u):
            return u ** m(alpha) - 1 - m(alpha) * (u - 1)

        pairs = []
        for h, h0 in zip(part, public, strict=True):
            q = kappa * m(float(h0))
            pairs.append((q + m(float(weight)) * (m(float(h)) - m(float(h0))) / k, q))
        if math.isinf(alpha):
            return max(abs(mpmath.log(p / q)) for p, q in pairs)
        sums = mpmath.fsum(q * f(p / q) for p, q in pairs), mpmath.fsum(p * f(q / p) for p, q in pairs)
        return mpmath.log(1 + max(sums)) / (alpha - 1)


@pytest.mark.parametrize("alpha", [2.0, pytest.param(4.0, marks=pytest.mark.slow)])
def test_agrees_with_mpmath_on_a_gpt2_vocabulary(alpha):
    public, part = language_like(1, 50_257, seed=5)
    ours = strict_loss(part, public, 0.4, 8, 0.5, alpha)
    assert abs(ours - float(exact_loss(part, public, 0.4, 8, 0.5, alpha))) < 1e-9


@settings(max_examples=150, deadline=None)
@given(pmf_pairs(positive=True), st.sampled_from(ORDERS), st.integers(2, 9), st.floats(0.05, 0.95))
def test_agrees_with_mpmath_on_small_ones(pair, alpha, k, w_max):
    part, public = pair
    ours = strict_loss(part, public, w_max, k, w_max, alpha)
    assert ours == pytest.approx(float(exact_loss(part, public, w_max, k, w_max, alpha)), rel=1e-8, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    pmf_pairs(positive=True, least=3, most=3),
    st.sampled_from(ORDERS),
    st.integers(2, 6),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.integers(0, 2**32 - 1),
)
def test_bounds_the_true_divergence_whatever_the_others_do(pair, alpha, k, w_max, seed):
    part, public = pair
    generator = np.random.default_rng(seed)
    others = generator.dirichlet(np.full(3, 0.2), size=k - 1)
    others[0] = np.eye(3)[seed % 3]
    weights = generator.choice([0.0, w_max], size=k - 1)
    w = w_max * generator.random()
    rest = (weights[:, None] * others + (1 - weights[:, None]) * public).sum(axis=0)
    with_part = (rest + w * part + (1 - w) * public) / k
    without = (rest + public) / k
    loss = strict_loss(part, public, w, k, w_max, alpha)
    assert renyi_divergence(with_part, without, alpha) <= loss + 1e-10
    assert renyi_divergence(without, with_part, alpha) <= loss + 1e-10


@pytest.mark.parametrize("alpha", ORDERS)
def test_loss_is_reached_when_the_others_leave_the_least(alpha):
    """With the others at w_max on a token of their own, the bound is nearly the truth: kappa cannot grow."""
    public, part = np.array([0.3, 0.699, 0.001]), np.array([0.9, 0.1, 0.0])
    part = part / part.sum()
    k, w_max, w = 6, 0.5, 0.4
    others = np.array([0.0, 0.0, 1.0])
    rest = (k - 1) * (w_max * others + (1 - w_max) * public)
    with_part, without = (rest + w * part + (1 - w) * public) / k, (rest + public) / k
    truth = max(renyi_divergence(with_part, without, alpha), renyi_divergence(without, with_part, alpha))
    loss = strict_loss(part, public, w, k, w_max, alpha)
    assert truth <= loss + 1e-12
    assert truth >= 0.98 * loss


def test_loss_covers_both_directions():
    """A part that lacks a likely token is betrayed by the world without it."""
    public, part = np.array([0.5, 0.5]), np.array([1e-9, 1.0 - 1e-9])
    k, w_max = 2, 0.9
    without = (w_max * np.array([0.0, 1.0]) + (1 - w_max) * public + public) / k
    with_part = without + w_max * (part - public) / k
    loss = strict_loss(part, public, w_max, k, w_max, 8.0)
    backward, forward = renyi_divergence(without, with_part, 8.0), renyi_divergence(with_part, without, 8.0)
    assert backward > 2 * forward
    assert backward <= loss + 1e-12


@settings(max_examples=100, deadline=None)
@given(pmf_pairs(positive=True), st.sampled_from(ORDERS), st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_grows_with_the_weight_and_is_zero_at_none(pair, alpha, first, second):
    part, public = pair
    low, high = sorted((first, second))
    losses = [strict_loss(part, public, w, 4, 0.5, alpha) for w in (0.0, low, high)]
    assert losses[0] == 0.0
    assert losses[1] <= losses[2] + 1e-12


def test_falls_with_the_number_of_parts():
    public, part = language_like(1, 1000, seed=2)
    losses = [strict_loss(part, public, 0.3, k, 0.5, 2.0) for k in (2, 4, 8, 16, 32)]
    assert all(b < a / 3 for a, b in itertools.pairwise(losses))


@settings(max_examples=200, deadline=None)
@given(
    pmf_pairs(positive=True),
    st.sampled_from(ORDERS),
    st.integers(2, 40),
    st.floats(0.05, 0.95),
    st.floats(-8.0, 1.0),
)
def test_chosen_weight_is_affordable_and_nearly_the_largest(pair, alpha, k, w_max, log_allowance):
    part, public = pair
    allowance = 10.0**log_allowance
    (weight,), (loss,) = strict_weight(part, public, allowance, k, w_max, alpha)
    assert 0.0 <= weight <= w_max
    assert loss <= allowance
    assert strict_loss(part, public, weight, k, w_max, alpha) <= loss + 1e-13
    if weight < w_max:
        more = min(weight * 1.001 + 1e-9, w_max)
        assert strict_loss(part, public, more, k, w_max, alpha) > allowance * (1 - 1e-9) - 1e-13


@pytest.mark.parametrize("alpha", [2.0, 4.0, 2.5])
def test_few_evaluations_are_enough(alpha, monkeypatch):
    count, both = [0], Curve.both
    monkeypatch.setattr(Curve, "both", lambda self, t: (count.__setitem__(0, count[0] + 1), both(self, t))[1])
    rows = language_like(8, 5000, seed=4)
    for allowance in (1e-5, 2e-3, 0.1):
        count[0] = 0
        strict_weight(rows[1:], rows[0], allowance, 8, 0.5, alpha)
        assert 8 <= count[0] <= (8 if alpha in (2.0, 4.0) else 40)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 4.0, 7.3, math.inf])
@pytest.mark.parametrize("size", [3, 700, 50_000])
def test_no_bit_of_a_part_depends_on_the_other_parts(alpha, size):
    rows = language_like(12, size, seed=7)
    public, parts = rows[0], rows[1:]
    alone = strict_weight(parts, public, 2e-3, 12, 0.5, alpha)
    others = parts.copy()
    others[1] = public  # costs nothing, at once
    others[2] = np.eye(size)[1]  # far away: many rounds of the search
    others[3] = np.nan
    allowances = np.full(12, 2e-3)
    allowances[4:8] = 0.0, 1e-9, 0.3, np.nan
    beside = strict_weight(others, public, allowances, 12, 0.5, alpha)
    for i in (0, 8, 9, 10, 11):
        assert (beside.weights[i], beside.losses[i]) == (alone.weights[i], alone.losses[i])


@pytest.mark.parametrize("alpha", [1.5, 2.0, 2.5, 3.0, 4.0, 8.0, 16.0, 20.0])
def test_parts_far_from_the_public_pmf_pay_what_the_sums_say(alpha):
    """Heavy tails, where the quadratic guess is far off and the polynomial of a whole order is steep."""
    rows = language_like(3, 20_000, seed=3, spread=4.0)
    for allowance in (1e-6, 1e-4, 5e-3):
        weights, losses = strict_weight(rows[1:], rows[0], allowance, 8, 0.5, alpha)
        assert ((weights > 0.0) & (weights < 0.5)).all()
        assert (losses <= allowance).all()
        assert (strict_loss(rows[1:], rows[0], weights, 8, 0.5, alpha) <= losses + 1e-13).all()
        assert (strict_loss(rows[1:], rows[0], weights * 1.001, 8, 0.5, alpha) > allowance).all()


@pytest.mark.parametrize("alpha", [1.5, 2.0, 4.0, math.inf])
@pytest.mark.parametrize("allowance", [1e-3, 10.0])
def test_a_part_is_its_share_of_its_mass(alpha, allowance):
    public, part = language_like(1, 500, seed=6)
    rule = StrictRule(public, 8, 0.5, alpha)
    checked = StrictRule(public, 8, 0.5, alpha, checked=True)
    assert checked.weigh(part * 1.7, allowance, 1.7) == pytest.approx(rule.weigh(part, allowance), rel=1e-9)
    assert rule.weigh(part * 1.7, allowance, 1.7) == (0.0, 0.0)  # an unchecked one must be a pmf by itself


def test_extreme_ratios_do_not_break_the_search():
    public = np.array([1e-16, 1.0 - 1e-16])
    part = np.array([1.0 - 1e-16, 1e-16])
    for alpha in ORDERS:
        (weight,), (loss,) = strict_weight(part, public, 1e-3, 8, 0.5, alpha)
        assert 0.0 <= weight < 1e-3
        assert strict_loss(part, public, weight, 8, 0.5, alpha) <= loss + 1e-13 <= 1e-3 + 2e-13


@pytest.mark.parametrize("broken", [[math.nan, 1.0], [2.0, -1.0], [0.5, 0.1], [math.inf, 0.0]])
def test_a_broken_part_gets_no_weight_and_costs_infinity_at_any(broken):
    public = np.array([0.5, 0.5])
    weights, losses = strict_weight(broken, public, 1.0, 4, 0.5, 2.0)
    assert weights[0] == losses[0] == 0.0
    assert strict_loss(broken, public, 0.1, 4, 0.5, 2.0) == math.inf
    assert strict_loss(broken, public, 0.0, 4, 0.5, 2.0) == 0.0


def test_no_allowance_no_weight():
    rows = language_like(3, 100, seed=1)
    weights, losses = strict_weight(rows[1:], rows[0], [0.0, -1.0, math.nan], 3, 0.5, 2.0)
    assert not weights.any()
    assert not losses.any()


def test_refusals():
    with pytest.raises(InputError, match="two parts"):
        base_share(1, 0.5)
    for w_max in (0.0, 1.0, math.nan):
        with pytest.raises(InputError):
            base_share(4, w_max)
    with pytest.raises(InputError):
        strict_loss([0.5, 0.5], [0.5, 0.5], 0.6, 4, 0.5, 2.0)
    with pytest.raises(InputError):
        strict_loss([0.5, 0.5], [math.nan, 0.5], 0.5, 4, 0.5, 2.0)
