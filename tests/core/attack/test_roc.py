"""Areas and true positives: right on known scores, and intervals that cover."""

import numpy as np
import pytest
from scipy.stats import norm

from core.attack.roc import _resampled, area, area_interval, roc, true_positives
from core.errors import InputError

RUNS = 1000


def test_the_area_counts_pairs_and_halves_of_ties():
    assert area(np.array([2.0, 3.0]), np.array([1.0, 2.0])) == (1 + 0.5 + 1 + 1) / 4
    assert area(np.array([5.0]), np.array([1.0, 2.0])) == 1.0


def test_the_curve_goes_from_corner_to_corner_and_encloses_the_area():
    rng = np.random.default_rng(0)
    found = roc(rng.normal(1, 1, 50), rng.normal(0, 1, 60), rng)
    assert found.points[0] == (0.0, 0.0)
    assert found.points[-1] == (1.0, 1.0)
    x, y = np.array(found.points).T
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert float(np.trapezoid(y, x)) == pytest.approx(found.area.value, abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "n"), [(0.0, 10), (0.0, 50), (0.5, 30), (1.0, 20), (1.0, 50), (3.0, 20), (3.0, 50)]
)
def test_areas_cover_in_at_least_93_percent_of_simulated_runs(shift, n):
    rng = np.random.default_rng(7)
    truth = norm.cdf(shift / 2**0.5)
    covered = 0
    for _ in range(RUNS):
        found = area_interval(rng.normal(shift, 1, n), rng.normal(0, 1, n), rng)
        covered += found.low <= truth <= found.high
    assert covered >= 0.93 * RUNS


def test_a_resample_counts_pairs_as_often_as_their_texts_are_drawn():
    rng = np.random.default_rng(3)
    members, others = rng.integers(0, 4, 30).astype(float), rng.integers(0, 4, 20).astype(float)  # with ties
    drawn = _resampled(members, others, np.random.default_rng(5))
    again = np.random.default_rng(5)
    inside, outside = (again.multinomial(n, np.full(n, 1 / n), drawn.size) for n in (30, 20))
    for row in range(0, drawn.size, 97):
        wanted = area(np.repeat(members, inside[row]), np.repeat(others, outside[row]))
        assert drawn[row] == pytest.approx(wanted)


@pytest.mark.parametrize("rate", [0.01, 0.001])
@pytest.mark.parametrize("shift", [1.0, 3.0])
def test_true_positives_cover_also_where_there_are_too_few_non_members(shift, rate):
    rng = np.random.default_rng(11)
    truth = norm.sf(norm.isf(rate) - shift)
    for n in (50, 500):
        covered = 0
        for _ in range(RUNS):
            found = true_positives(rng.normal(shift, 1, n), rng.normal(0, 1, n), rate)
            covered += found.found.low <= truth <= found.found.high
        assert covered >= 0.93 * RUNS


def test_a_rate_that_cannot_be_measured_says_so():
    rng = np.random.default_rng(0)
    members, others = rng.normal(9, 1, 100), rng.normal(0, 1, 100)
    found = true_positives(members, others, 0.001)
    assert not found.measurable
    assert found.found.low == 0.0
    assert true_positives(members, rng.normal(0, 1, 5000), 0.001).measurable


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(InputError):
        roc([1.0, np.nan], [0.0, 1.0], np.random.default_rng(0))
    with pytest.raises(InputError):
        roc([1.0], [0.0, 1.0], np.random.default_rng(0))
