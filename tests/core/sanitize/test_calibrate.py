"""What an epsilon means: the figures agree with counting, and the way back finds the way there."""

import numpy as np
import pytest

from core.errors import InputError
from core.sanitize import StayCurve, calibrate, epsilon_for, make_mechanism
from core.sanitize.calibrate import common_words, mean_with_interval
from tests.core.sanitize.worlds import line_vocabulary, small_vocabulary

NOISES = ["euclidean", "mahalanobis", "tem"]


@pytest.mark.parametrize("noise", NOISES)
def test_the_curve_is_what_counting_finds(noise):
    vocabulary = small_vocabulary(dimension=5)
    words = ["tea", "queen", "12"]
    curve = StayCurve(noise, vocabulary, words=words, directions=20_000)
    for epsilon in (2.0, 6.0):
        counted = calibrate(make_mechanism(noise, vocabulary, epsilon), words=words, draws=20_000)
        assert [word.word for word in counted.words] == words
        stays = [word.stays for word in counted.words]
        assert np.allclose(curve.by_word(epsilon), stays, atol=0.015)
        assert counted.stays == pytest.approx(np.mean(stays))


@pytest.mark.parametrize("noise", NOISES)
def test_the_epsilon_for_a_deniability_gives_that_deniability(noise):
    vocabulary = small_vocabulary(dimension=5)
    for wanted in (0.2, 0.9):
        epsilon = epsilon_for(vocabulary, wanted, noise=noise, words=["tea", "soup", "king"])
        curve = StayCurve(noise, vocabulary, words=["tea", "soup", "king"])
        assert 1 - curve.stays(epsilon)[0] == pytest.approx(wanted, abs=1e-3)


def test_more_noise_means_fewer_words_stay_and_more_words_come(glove):
    counted = [calibrate(make_mechanism("euclidean", glove, epsilon), draws=5) for epsilon in (4.0, 12.0)]
    assert counted[0].stays < counted[1].stays
    assert counted[0].distinct > counted[1].distinct
    low, high = counted[1].stays_interval
    assert low < counted[1].stays < high
    assert counted[0].deniability == 1 - counted[0].stays


def test_numbers_hide_better_than_words_at_the_same_epsilon(glove):
    """They lie close together in GloVe: the reason why one epsilon does not mean one thing."""
    curve = StayCurve("euclidean", glove, words=["145", "hospital"], directions=48)
    number, word = curve.by_word(12.0)
    assert number < 0.5 < word


def test_distinct_outputs_are_counted():
    counted = calibrate(make_mechanism("euclidean", line_vocabulary(), 0.01), words=["a"], draws=1000)
    assert counted.words[0].distinct == 5
    assert calibrate(make_mechanism("euclidean", line_vocabulary(), 900.0), words=["a"]).distinct == 1.0


def test_the_sample_of_words_is_public_and_fixed(glove):
    assert common_words(glove, 50) == common_words(glove, 50)
    assert all(word.isalpha() for word in common_words(glove, 50))


def test_the_interval_of_a_mean_covers_it():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        low, high = mean_with_interval(rng.beta(2, 3, 60))[1]
        hits += low <= 0.4 <= high
    assert 365 <= hits <= 395


@pytest.mark.parametrize("deniability", [0.0, 1.0, -1.0, float("nan")])
def test_a_deniability_that_is_no_chance_is_a_sentence(deniability):
    with pytest.raises(InputError, match="between 0 and 1"):
        epsilon_for(small_vocabulary(), deniability)


def test_a_deniability_that_cannot_be_had_is_a_sentence():
    with pytest.raises(InputError, match="No epsilon"):
        epsilon_for(line_vocabulary(), 0.95, words=["a"])


def test_words_outside_the_vocabulary_cannot_be_calibrated():
    with pytest.raises(InputError, match="None of these words"):
        calibrate(make_mechanism("tem", small_vocabulary(), 1.0), words=["zzz"])
