import math

import numpy as np
import pytest
from scipy.integrate import quad

from core.privacy.noise import gnmax_data_dependent, gnmax_rdp, laplace_rdp, laplace_shift, noisy_winner


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0])
@pytest.mark.parametrize("shift", [0.01, 0.5, 3.0])
def test_laplace_loss_is_the_integral(alpha, shift):
    def integrand(x):
        return 0.5 * math.exp(-alpha * abs(x - shift) - (1 - alpha) * abs(x))

    total, _ = quad(integrand, -60, 60, points=[0.0, shift], limit=400)
    assert laplace_rdp(alpha, shift) == pytest.approx(math.log(total) / (alpha - 1), rel=1e-6)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0, math.inf])
@pytest.mark.parametrize("loss", [1e-6, 2e-3, 1.0, 50.0])
def test_laplace_shift_buys_what_it_costs(alpha, loss):
    assert laplace_rdp(alpha, laplace_shift(alpha, loss)) <= loss
    assert laplace_rdp(alpha, laplace_shift(alpha, loss) * 1.001) > loss * (1 - 1e-9)


def test_one_coordinate_is_the_worst_split():
    for alpha in (1.5, 2.0, 8.0):
        assert 2 * laplace_rdp(alpha, 0.5) <= laplace_rdp(alpha, 1.0)


def test_the_noisy_winner_follows_simulation():
    votes, sigma = np.array([5.0, 2.0, 1.0] + [0.0] * 20), 2.0
    law = noisy_winner(votes, sigma)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    draws = (votes + sigma * np.random.default_rng(0).standard_normal((200_000, 23))).argmax(axis=1)
    assert np.abs(np.bincount(draws, minlength=23) / 200_000 - law).max() < 0.005


def test_data_dependent_loss_falls_with_consensus_and_is_never_above_the_plain_one():
    sigma, alpha = 10.0, 2.0
    plain = gnmax_rdp(alpha, sigma)
    agreed = gnmax_data_dependent(alpha, sigma, np.array([200.0]), 1000)
    split = gnmax_data_dependent(alpha, sigma, np.array([10.0, 9.0]), 1000)
    assert agreed < plain / 100
    assert split == plain
    assert gnmax_data_dependent(alpha, 0.01, np.array([8.0]), 1000) == 0.0


@pytest.mark.parametrize("votes", [[40.0], [30.0, 10.0], [25.0, 5.0, 10.0]])
@pytest.mark.parametrize("sigma", [3.0, 5.0, 8.0])
def test_data_dependent_loss_bounds_the_true_divergence(votes, sigma):
    """One vote moves from the winner to any other token; the law is known, so the loss can be checked."""
    tokens, alpha = 6, 2.0
    counts = np.zeros(tokens)
    counts[: len(votes)] = votes
    bound = gnmax_data_dependent(alpha, sigma, counts[counts > 0], tokens)
    here = noisy_winner(counts, sigma)
    for to in range(1, tokens):
        moved = counts.copy()
        moved[0] -= 1
        moved[to] += 1
        there = noisy_winner(moved, sigma)
        divergence = math.log(float(np.sum(here**alpha * there ** (1 - alpha)))) / (alpha - 1)
        assert divergence <= bound + 1e-9
