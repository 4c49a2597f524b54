"""The noise has density proportional to exp(-epsilon |z|), and the test would see it if it had not."""

import numpy as np
import pytest
from scipy.stats import beta, gamma, kstest

from core.errors import InputError
from core.sanitize.laplace import Laplace, Mahalanobis
from core.sanitize.noise import check_epsilon, draw_noise, fresh_generator
from tests.core.sanitize.worlds import small_vocabulary

DRAWS, DIMENSION, EPSILON = 100_000, 50, 12.0


def p_value(noise: np.ndarray, dimension: int = DIMENSION, epsilon: float = EPSILON) -> float:
    """The smallest Kolmogorov-Smirnov p-value of radius and direction, times the number of tests.

    The radius is Gamma(d, 1/epsilon). A coordinate t of a uniform direction, along any fixed axis, has
    (1 + t)/2 ~ Beta((d-1)/2, (d-1)/2).
    """
    radius = np.linalg.norm(noise, axis=1)
    unit = noise / radius[:, None]
    diagonal = np.ones(dimension) / np.sqrt(dimension)
    law = beta((dimension - 1) / 2, (dimension - 1) / 2)
    tests = [kstest(radius, gamma(dimension, scale=1 / epsilon).cdf)]
    tests += [kstest((1 + unit @ axis) / 2, law.cdf) for axis in (*np.eye(dimension)[:2], diagonal)]
    return len(tests) * min(test.pvalue for test in tests)


def test_the_noise_passes_the_test_of_its_law():
    assert p_value(draw_noise(DRAWS, DIMENSION, EPSILON, np.random.default_rng(1))) > 1e-3
    assert p_value(draw_noise(DRAWS, 3, 0.5, np.random.default_rng(2)), 3, 0.5) > 1e-3


def wrong_noises():
    rng = np.random.default_rng(3)

    def direction():
        normal = rng.standard_normal((DRAWS, DIMENSION))
        return normal / np.linalg.norm(normal, axis=1, keepdims=True)

    # all but the first two are scaled so that the mean radius is right
    mean = DIMENSION / EPSILON
    laplace = rng.laplace(size=(DRAWS, DIMENSION))
    gaussian = rng.standard_normal((DRAWS, DIMENSION))
    cube = rng.uniform(-1, 1, (DRAWS, DIMENSION))
    right_radius = rng.gamma(DIMENSION, 1 / EPSILON, (DRAWS, 1))
    return {
        "shape d-1": direction() * rng.gamma(DIMENSION - 1, 1 / EPSILON, (DRAWS, 1)),
        "scale +1 %": direction() * rng.gamma(DIMENSION, 1.01 / EPSILON, (DRAWS, 1)),
        "Laplace in each coordinate": laplace * mean / np.linalg.norm(laplace, axis=1).mean(),
        "Gaussian": gaussian * mean / np.linalg.norm(gaussian, axis=1).mean(),
        "direction from a cube": cube / np.linalg.norm(cube, axis=1, keepdims=True) * right_radius,
        "direction of Laplace": laplace / np.linalg.norm(laplace, axis=1, keepdims=True) * right_radius,
    }


def test_the_test_rejects_every_wrong_noise():
    accepted = [name for name, noise in wrong_noises().items() if p_value(noise) > 1e-6]
    assert accepted == []


def test_mahalanobis_noise_is_round_noise_in_the_shape_of_the_vocabulary():
    vocabulary = small_vocabulary(dimension=6)
    mechanism = Mahalanobis(vocabulary, EPSILON, share=0.5)
    covariance = np.cov(vocabulary.vectors, rowvar=False)
    covariance *= 6 / np.trace(covariance)
    values, vectors = np.linalg.eigh(0.5 * covariance + 0.5 * np.eye(6))
    undo = (vectors / np.sqrt(values)) @ vectors.T
    drawn = mechanism.noise(DRAWS, np.random.default_rng(4))
    assert p_value(drawn @ undo, 6) > 1e-3
    assert p_value(drawn, 6) < 1e-6


def test_a_share_of_nothing_is_the_round_noise():
    vocabulary = small_vocabulary()
    round_, shaped = Laplace(vocabulary, 2.0), Mahalanobis(vocabulary, 2.0, share=0.0)
    first, second = (mechanism.noise(50, np.random.default_rng(5)) for mechanism in (round_, shaped))
    assert np.allclose(first, second)


def test_fresh_generators_never_repeat_one_another():
    assert len({fresh_generator().integers(2**63) for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("epsilon", "sentence"),
    [
        (0, "greater than 0"),
        (-3.0, "greater than 0"),
        (float("nan"), "must be a number"),
        (float("inf"), "must be a number"),
        ("12", "must be a number"),
        (1e308, "changes no word"),
        (1e-300, "leaves nothing"),
    ],
)
def test_an_epsilon_without_meaning_is_a_sentence(epsilon, sentence):
    with pytest.raises(InputError, match=sentence):
        check_epsilon(epsilon)
