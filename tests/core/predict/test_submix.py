import math

import numpy as np
import pytest

from core.predict import SubMix
from core.privacy import SLACK
from tests.core.privacy.pmfs import language_like


def query(parts=4, vocabulary=12, seed=0, spread=1.0):
    rows = language_like(2 * parts, vocabulary, seed, spread)
    return rows[0], rows[1:].reshape(parts, 2, vocabulary)


def renyi(p, q, alpha):
    return math.log(math.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (alpha - 1)


def algorithm_two(public, halves, alpha, beta):
    """Lines 6 to 19 of the paper, written again from the page: answer, weights and losses."""
    k = len(halves)
    means = [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in halves]
    weights = []
    for first, second in halves:

        def leak(weight, first=first, second=second):
            a = [weight * x + (1 - weight) * o for x, o in zip(first, public, strict=True)]
            b = [weight * x + (1 - weight) * o for x, o in zip(second, public, strict=True)]
            return renyi(a, b, alpha)

        low, high = 0.0, 1.0
        if leak(1.0) <= beta:
            low = 1.0
        else:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if leak(middle) <= beta else (low, middle)
        weights.append(low)

    def answer(members):
        weight = sum(weights[j] for j in members) / len(members)
        return [
            weight * sum(means[j][x] for j in members) / len(members) + (1 - weight) * public[x]
            for x in range(len(public))
        ]

    full = answer(range(k))
    losses = []
    for i in range(k):
        rest = answer([j for j in range(k) if j != i])
        losses.append(max(renyi(full, rest, alpha), renyi(rest, full, alpha)))
    return full, weights, losses


@pytest.mark.parametrize("alpha", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_equals_an_independent_reading_of_algorithm_two(alpha, parts):
    for seed in range(3):
        public, halves = query(parts, seed=seed)
        protocol = SubMix(parts, epsilon=50.0, alpha=alpha, queries=1000)
        step = protocol.step(public, halves)
        pmf, weights, losses = algorithm_two(public, halves, alpha, 0.05)
        assert step.weights == pytest.approx(weights, abs=1e-6)
        assert step.pmf == pytest.approx(pmf, abs=1e-6)
        assert step.losses - SLACK == pytest.approx(losses, rel=1e-4, abs=1e-11)


def test_leave_one_out_losses_are_exact_when_the_weights_are():
    """Halves that agree have weight one, so nothing hides behind the search."""
    public, halves = query(4, seed=5)
    halves[:, 1] = halves[:, 0]
    step = SubMix(4, epsilon=50.0, queries=10).step(public, halves)
    assert (step.weights == 1.0).all()
    assert step.losses - SLACK == pytest.approx(algorithm_two(public, halves, 2.0, 5.0)[2], abs=2e-12)


def disagreeing():
    public = np.array([0.5, 0.5])
    parts = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    return public, np.repeat(parts[:, None, :], 2, axis=1)


def test_debits_before_it_answers():
    """The query that the budget cannot pay is answered by the public model, not charged afterwards."""
    public, halves = disagreeing()
    first = SubMix(3, epsilon=5.0, queries=10).step(public, halves)
    price = first.losses.max()
    protocol = SubMix(3, epsilon=float(price) * 1.5, queries=10)
    assert protocol.step(public, halves).private
    second = protocol.step(public, halves)
    assert not second.private
    assert np.array_equal(second.pmf, public)
    assert protocol.stopped


def test_stop_is_sticky():
    public, halves = disagreeing()
    protocol = SubMix(3, epsilon=0.05, queries=10)
    assert not protocol.step(public, halves).private
    agreed = np.repeat(np.repeat(public[None, None] * 1.0, 3, axis=0), 2, axis=1)
    for _ in range(3):
        step = protocol.step(public, agreed)
        assert not step.private
        assert not step.units.any()
    again = SubMix(3, epsilon=0.05, queries=10, remaining=protocol.remaining, used=protocol.used)
    assert not again.step(public, agreed).private


def test_stop_is_restored():
    public, halves = disagreeing()
    assert not SubMix(3, epsilon=5.0, queries=10, stopped=True).step(public, halves).private


def test_one_empty_part_stops_everything():
    public, halves = disagreeing()
    step = SubMix(3, epsilon=5.0, queries=10, remaining=[5.0, 0.0, 5.0]).step(public, halves)
    assert not step.private


def test_a_loss_that_is_not_a_number_closes_the_budget():
    public, halves = disagreeing()
    halves = halves.copy()
    halves[1, 0, 0] = math.nan
    protocol = SubMix(3, epsilon=5.0, queries=10)
    step = protocol.step(public, halves)
    assert not step.private
    assert protocol.stopped
    assert (step.remaining == 0.0).all()
    assert np.array_equal(step.pmf, public)


def test_infinite_losses_stop_and_charge_no_more_than_there_is():
    public = np.array([0.5, 0.5])
    halves = np.repeat(np.array([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]]), 2, axis=1)
    protocol = SubMix(3, epsilon=5.0, queries=10)
    step = protocol.step(public, halves)
    assert not step.private
    assert (step.remaining >= 0.0).all()
    assert step.losses.max() <= 5.0


def test_the_sums_of_others_do_not_lose_a_token_to_rounding():
    """Only one part has the last token; without it that token is impossible, and the loss infinite."""
    public = np.array([0.6, 0.4 - 1e-9, 1e-9])
    parts = np.array([[0.7, 0.3, 0.0], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2]])
    halves = np.repeat(parts[:, None, :], 2, axis=1)
    protocol = SubMix(3, epsilon=5.0, queries=10)
    step = protocol.step(public, halves)
    assert not step.private
    assert step.remaining[2] == 0.0


def test_beta_follows_the_paper():
    assert SubMix(4, epsilon=2.0, queries=1024).beta == 2.0 / 1024


def test_quote_is_the_whole_budget_because_no_query_has_a_price():
    assert SubMix(4, epsilon=2.0).quote(1) == 2.0
    assert SubMix(4, epsilon=2.0).quote(0) == 0.0
