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


def test_nothing_spent_leaves_the_guesser_with_luck_alone_at_high_order():
    assert spend_means(64.0, 0.0, candidates=100).chance == pytest.approx(0.01, rel=0.1)
