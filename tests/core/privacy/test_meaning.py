"""The card says what the conversions say."""

import pytest

from core.privacy.meaning import spend_means


def test_the_whole_budget_of_the_demonstration_in_other_words():
    meaning = spend_means(2.0, 2.0)
    assert meaning.dp_epsilon == pytest.approx(12.1266, abs=1e-4)
    assert meaning.chance == pytest.approx((7.38905609893065 / 10_000) ** 0.5)
    assert meaning.user_epsilon is None


def test_above_order_two_there_is_a_figure_for_one_user():
    meaning = spend_means(4.0, 2.0)
    assert (meaning.user_order, meaning.user_epsilon) == (2.0, pytest.approx(5.0))
    assert meaning.dp_epsilon == pytest.approx(5.0879, abs=1e-4)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 64.0])
def test_nothing_spent_is_nothing_in_every_currency(alpha):
    meaning = spend_means(alpha, 0.0, candidates=100)
    assert (meaning.dp_epsilon, meaning.user_epsilon or 0.0, meaning.chance) == (0.0, 0.0, 0.01)
    assert spend_means(alpha, 1e-12, candidates=100).chance >= 0.01
