"""P[M(w) = y] <= exp(epsilon d(w, w')) P[M(w') = y], counted over a million draws for each word."""

import numpy as np
import pytest

from core.sanitize import make_mechanism
from core.sanitize.exponential import TruncatedExponential, default_gamma
from core.sanitize.laplace import Laplace, Mahalanobis
from core.sanitize.noise import draw_noise
from tests.core.sanitize.worlds import line_vocabulary, small_vocabulary

DRAWS = 1_000_000
EPSILON = 1.2


def counted_law(mechanism, draws=DRAWS, seed=0):
    """P[M(w) = y] as shares of draws: (words, words)."""
    size = len(mechanism.vocabulary)
    law = np.empty((size, size))
    rng = np.random.default_rng(seed)
    for word in range(size):
        law[word] = np.bincount(mechanism.perturb(np.full(draws, word), rng), minlength=size) / draws
    return law


def breaches(law, distances, epsilon, draws=DRAWS):
    """The triples (w, w', y) whose log ratio exceeds the bound by more than 5 standard errors."""
    found = []
    with np.errstate(divide="ignore"):
        logs, errors = np.log(law), np.sqrt((1 - law) / (law * draws))
    for w, v in np.argwhere(distances > 0):
        for y in range(len(law)):
            if law[w, y] * draws < 100:  # too seldom to say anything
                continue
            excess = logs[w, y] - logs[v, y] - epsilon * distances[w, v]
            if law[v, y] == 0 or excess > 5 * np.hypot(errors[w, y], errors[v, y]):
                found.append((w, v, y))
    return found


def euclidean(vocabulary):
    return np.linalg.norm(vocabulary.vectors[:, None] - vocabulary.vectors[None], axis=2)


@pytest.mark.parametrize("noise", ["euclidean", "tem"])
def test_the_bound_holds_for_every_pair_of_words_and_every_output(noise):
    vocabulary = line_vocabulary()
    law = counted_law(make_mechanism(noise, vocabulary, EPSILON))
    assert breaches(law, euclidean(vocabulary), EPSILON) == []


def test_the_bound_holds_for_mahalanobis_in_its_own_distance():
    vocabulary = line_vocabulary()
    mechanism = Mahalanobis(vocabulary, EPSILON, share=0.9)
    whitened = vocabulary.vectors @ np.linalg.inv(mechanism.root)
    distances = np.linalg.norm(whitened[:, None] - whitened[None], axis=2)
    law = counted_law(mechanism, draws=200_000)
    assert breaches(law, distances, EPSILON, draws=200_000) == []
    assert breaches(law, euclidean(vocabulary), EPSILON, draws=200_000), "it promises no Euclidean bound"


class ResampledWhenUnchanged(Laplace):
    """The mutant that tries again until the word changes."""

    def perturb(self, indices, rng):
        outputs = super().perturb(indices, rng)
        while (same := outputs == indices).any():
            outputs[same] = super().perturb(indices[same], rng)
        return outputs


class HalfTheNoise(Laplace):
    """The mutant whose noise has half the radius."""

    def noise(self, count, rng):
        return draw_noise(count, self.vocabulary.dimension, 2 * self.epsilon, rng)


class NoiseInEachCoordinate(Laplace):
    """The mutant that adds Laplace noise of scale 1/epsilon to each coordinate."""

    def noise(self, count, rng):
        return rng.laplace(scale=1 / self.epsilon, size=(count, self.vocabulary.dimension))


@pytest.mark.parametrize("mutant", [ResampledWhenUnchanged, HalfTheNoise, NoiseInEachCoordinate])
def test_the_count_catches_a_mechanism_that_breaks_the_bound(mutant):
    vocabulary = line_vocabulary()
    if mutant is NoiseInEachCoordinate:  # its privacy loss is in the L1 distance, which the diagonal shows
        vocabulary.vectors = (vocabulary.vectors @ np.array([[1, 1], [1, -1]]) / np.sqrt(2)).astype(
            np.float32
        )
    law = counted_law(mutant(vocabulary, EPSILON), draws=100_000)
    assert breaches(law, euclidean(vocabulary), EPSILON, draws=100_000)


def test_tem_draws_from_its_stated_law():
    vocabulary = small_vocabulary(dimension=3)
    mechanism = TruncatedExponential(vocabulary, 4.0, gamma=1.0)
    distances = euclidean(vocabulary)
    weights = np.exp(-2.0 * np.minimum(distances, 1.0))
    stated = weights / weights.sum(axis=1, keepdims=True)
    assert np.allclose([mechanism.law(at) for at in range(len(vocabulary))], stated, atol=1e-7)
    draws = 200_000
    indices = np.tile([0, 40, 7], draws)  # words mixed in one batch keep their own laws and places
    outputs = mechanism.perturb(indices, np.random.default_rng(0)).reshape(draws, 3)
    for column, word in enumerate((0, 40, 7)):
        counted = np.bincount(outputs[:, column], minlength=len(vocabulary)) / draws
        assert np.abs(counted - stated[word]).max() < 5 * np.sqrt(stated[word].max() / draws)
        assert (distances[word][outputs[:, column]] > 1.0).any(), "words beyond gamma come too"


def test_tem_keeps_within_gamma_as_it_says(glove):
    mechanism = TruncatedExponential(glove, 6.0)
    assert mechanism.gamma == default_gamma(len(glove), 6.0)
    at = glove.index["hospital"]
    law = mechanism.law(at)
    assert law.sum() == pytest.approx(1.0)
    distances = np.linalg.norm(glove.vectors - glove.vectors[at], axis=1)
    assert law[distances > mechanism.gamma].sum() <= 1e-3


def test_the_exact_ratio_of_tem_holds_on_real_vectors(glove):
    mechanism = TruncatedExponential(glove, 9.0)
    for first, second in (("king", "queen"), ("12", "13"), ("tea", "parliament")):
        w, v = glove.index[first], glove.index[second]
        worst = np.abs(np.log(mechanism.law(w)) - np.log(mechanism.law(v))).max()
        assert worst <= 9.0 * glove.distance(w, v) * (1 + 1e-6)
