"""Intervals cover as often as they say, at every truth that was tried."""

import numpy as np
import pytest
from scipy.stats import binom

from core.attack.intervals import clopper_pearson, mean, share
from core.errors import InputError

RUNS = 1000


def coverage(n, p, interval):
    """The exact chance that the interval of a count of n holds p."""
    found = [interval(hits, n) for hits in range(n + 1)]
    return sum(binom.pmf(hits, n, p) for hits, each in enumerate(found) if each.low <= p <= each.high)


@pytest.mark.parametrize("n", [1, 3, 5, 10, 20])
def test_shares_cover_at_every_truth(n):
    edges = {edge for hits in range(n + 1) for edge in (share(hits, n).low, share(hits, n).high)}
    truths = [
        *np.linspace(0.01, 0.99, 99),
        *(min(max(e + d, 1e-9), 1 - 1e-9) for e in edges for d in (-1e-7, 1e-7)),
    ]
    assert min(coverage(n, p, share) for p in truths) >= (0.93 if n == 5 else 0.945)
    assert min(coverage(n, p, clopper_pearson) for p in truths) >= 0.95


def test_none_of_ten_is_zero_to_twenty_six_percent_and_all_of_ten_the_mirror():
    assert (share(0, 10).low, round(share(0, 10).high, 2)) == (0.0, 0.26)
    assert (round(share(10, 10).low, 2), share(10, 10).high) == (0.74, 1.0)
    assert round(clopper_pearson(0, 10).high, 2) == 0.31


def test_known_clopper_pearson_values():
    found = clopper_pearson(7, 20)
    assert (round(found.low, 4), round(found.high, 4)) == (0.1539, 0.5922)


EXPOSURES = {
    "not memorised": (lambda rng, n: -np.log2(rng.random(n)), 1 / np.log(2)),
    "bell": (lambda rng, n: rng.normal(5.0, 1.0, n), 5.0),
    "mostly memorised": (
        lambda rng, n: np.where(rng.random(n) < 0.8, 13.3, -np.log2(rng.random(n))),
        0.8 * 13.3 + 0.2 / np.log(2),
    ),
    "one in five memorised": (
        lambda rng, n: np.where(rng.random(n) < 0.2, 13.3, -np.log2(rng.random(n))),
        0.2 * 13.3 + 0.8 / np.log(2),
    ),
}


def coverage_of_means(interval, kind, canaries):
    """The share of simulated runs whose interval holds the true mean."""
    draw, truth = EXPOSURES[kind]
    rng = np.random.default_rng(3)
    found = (interval(draw(rng, canaries), rng) for _ in range(RUNS))
    return np.mean([low <= truth <= high for low, high in found])


def gaffke(values, rng):
    found = mean(values, rng, least=0.0, most=13.3, resamples=500)
    return found.low, found.high


def percentiles(values, rng):
    drawn = values[rng.integers(values.size, size=(500, values.size))].mean(axis=1)
    return np.quantile(drawn, [0.025, 0.975])


@pytest.mark.parametrize("kind", EXPOSURES)
@pytest.mark.parametrize("canaries", [4, 8, 20])
def test_means_cover_in_at_least_93_percent_of_simulated_runs(kind, canaries):
    assert coverage_of_means(gaffke, kind, canaries) >= 0.93


def test_the_count_of_covering_runs_shows_an_interval_that_is_too_narrow():
    assert coverage_of_means(percentiles, "one in five memorised", 8) < 0.9


def test_the_interval_of_a_mean_closes_in_on_it():
    rng = np.random.default_rng(0)
    found = mean(rng.normal(5.0, 1.0, 2000), rng, least=0.0, most=13.3)
    assert 4.7 < found.low < found.value < found.high < 5.3


def test_equal_values_do_not_pretend_to_certainty():
    rng = np.random.default_rng(0)
    found = mean([13.0] * 10, rng, least=0.0, most=13.0)
    assert found.value == found.high == 13.0
    assert found.low == pytest.approx(13.0 * (1 - 0.2589), abs=0.06)
    assert mean([5.0], rng, least=0.0, most=13.0).low < 1.0


@pytest.mark.parametrize(("hits", "trials"), [(3, 2), (-1, 4), (0, 0)])
def test_what_is_no_share_is_refused(hits, trials):
    with pytest.raises(InputError, match="no share"):
        share(hits, trials)
