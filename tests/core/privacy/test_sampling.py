import math
import secrets
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from core.errors import InputError
from core.privacy import sampling
from core.privacy.sampling import SLACK, integer_law, sample, sample_with
from tests.core.privacy.pmfs import language_like, pmf_pairs


def fits(draws, pmf):
    """Chi-square test of draws against a pmf, cells of fewer than ten expected draws pooled."""
    expected = pmf * len(draws)
    counts = np.bincount(draws, minlength=len(pmf))
    small = expected < 10
    cells = [(c, e) for c, e in zip(counts[~small], expected[~small], strict=True)]
    if expected[small].sum() > 0:
        cells.append((counts[small].sum(), expected[small].sum()))
    statistic = sum((c - e) ** 2 / e for c, e in cells)
    return counts[pmf == 0].sum() == 0 and chi2.sf(statistic, max(len(cells) - 1, 1)) > 1e-4


def uneven():
    pmf = np.array([0.4, 0.3, 0.2, 0.06, 0.03, 0.009, 0.0, 0.0009, 0.0001])
    return pmf / pmf.sum()


def test_draws_follow_the_law():
    pmf = uneven()
    assert fits([sample(pmf) for _ in range(40_000)], pmf)


@pytest.mark.slow
def test_a_million_draws_follow_the_law():
    pmf = uneven()
    assert fits([sample(pmf) for _ in range(1_000_000)], pmf)


def test_the_same_test_rejects_wrong_samplers():
    pmf = uneven()
    generator = np.random.default_rng(1)
    tempered = pmf**0.95 / (pmf**0.95).sum()
    assert not fits(generator.choice(len(pmf), size=40_000, p=tempered), pmf)
    coarse = np.floor(pmf * 100) / np.floor(pmf * 100).sum()
    assert not fits(generator.choice(len(pmf), size=40_000, p=coarse), pmf)
    assert not fits(np.full(40_000, pmf.argmax()), pmf)
    with_zero = np.append(np.repeat(0, 39_999), 6)
    assert not fits(with_zero, pmf)


def test_zero_probability_tokens_never_come():
    pmf = np.zeros(1000)
    pmf[[3, 500]] = 0.5
    assert {sample(pmf) for _ in range(2000)} == {3, 500}
    law = integer_law(pmf)
    assert [x for x, n in enumerate(law) if n] == [3, 500]


def test_every_possible_token_has_at_least_one_chance():
    pmf = np.array([1.0 - 1e-16, 1e-40, 5e-324, 0.0])
    assert [n > 0 for n in integer_law(pmf)] == [True, True, True, False]


@settings(max_examples=100, deadline=None)
@given(pmf_pairs())
def test_integer_law_is_within_a_hair_of_the_pmf(pair):
    for pmf in pair:
        law = integer_law(pmf)
        total = sum(law)
        exact = [Fraction(float(p)) for p in pmf]
        whole = sum(exact)
        for n, p in zip(law, exact, strict=True):
            assert (n == 0) == (p == 0)
            if p >= 1e-18:
                ratio = Fraction(n, total) / (p / whole)
                assert abs(ratio - 1) < 3e-13


def test_slack_covers_the_rounding_at_every_order():
    """(2a - 1)/(a - 1) times the largest relative error of the integer law, both worlds together."""
    smallest = sampling.PUBLIC_FLOOR * (1 - sampling.LARGEST_WEIGHT)
    law = integer_law(np.array([1.0 - smallest, smallest]))
    eta = abs(math.log(Fraction(law[1], sum(law)) / Fraction(smallest))) + 2e-13
    for alpha in (sampling.SMALLEST_ORDER, 1.5, 2.0, 64.0):
        assert (2 * alpha - 1) / (alpha - 1) * 2 * eta < SLACK / 10


def test_two_runs_differ():
    pmf = np.full(2**16, 2.0**-16)
    assert [sample(pmf) for _ in range(8)] != [sample(pmf) for _ in range(8)]


def test_asks_the_operating_system_for_every_draw(monkeypatch):
    asked: list[int] = []

    def last(total: int) -> int:
        asked.append(total)
        return total - 1

    monkeypatch.setattr(secrets, "randbelow", last)
    assert sample(np.array([0.5, 0.25, 0.25])) == 2
    assert asked == [2**103]


def test_the_edges_of_the_range_belong_to_the_right_tokens(monkeypatch):
    pmf = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    for drawn, token in ((0, 1), (2**101 - 1, 1), (2**101, 3), (2**103 - 1, 3)):
        monkeypatch.setattr(secrets, "randbelow", lambda n, drawn=drawn: drawn)
        assert sample(pmf) == token


def test_a_seeded_draw_repeats_and_follows_the_law():
    pmf = uneven()
    first, second = np.random.default_rng(7), np.random.default_rng(7)
    draws = [sample_with(pmf, first) for _ in range(20_000)]
    assert draws[:50] == [sample_with(pmf, second) for _ in range(50)]
    assert fits(draws, pmf)


def test_large_vocabularies_are_exact():
    pmf = language_like(0, 50_257, seed=8)[0]
    law = integer_law(pmf)
    assert sum(law) == pytest.approx(2.0**103, rel=1e-12)
    assert all((0 <= sample(pmf) < 50_257) for _ in range(20))


@pytest.mark.parametrize("bad", [[math.nan, 1.0], [-0.1, 1.1], [0.0, 0.0], [], [[0.5, 0.5]], [math.inf, 0.0]])
def test_what_is_no_pmf_is_not_sampled(bad):
    with pytest.raises(InputError):
        sample(np.array(bad, dtype=float))


@given(st.integers(1, 40))
def test_uniform_laws_have_equal_integers(size):
    assert len(set(integer_law(np.full(size, 1.0 / size)))) == 1
