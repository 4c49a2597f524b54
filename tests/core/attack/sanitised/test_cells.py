"""The mass of a cell along rays, against the exact one: on a grid in the plane, by draws in 50 dimensions."""

import numpy as np
import pytest

from core.attack.sanitised.cells import Cell
from core.sanitize.laplace import Laplace, Mahalanobis
from core.sanitize.vocabulary import Vocabulary

EPSILON = 1.5


def vocabulary(vectors: np.ndarray) -> Vocabulary:
    return Vocabulary([f"w{at}" for at in range(len(vectors))], vectors.astype(np.float32))


@pytest.fixture(scope="module")
def plane() -> Vocabulary:
    return vocabulary(np.random.default_rng(5).normal(scale=(1.6, 0.8), size=(7, 2)))


def exact(vectors: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """P[w, o] in the plane, by summing the density over a fine grid around each word."""
    step, reach = 0.06, 12.0
    axis = np.arange(-reach, reach, step) + step / 2
    noise = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    back = np.eye(2) if root is None else np.linalg.inv(root)
    density = EPSILON**2 / (2 * np.pi) * np.exp(-EPSILON * np.linalg.norm(noise @ back, axis=1))
    mass = density * abs(np.linalg.det(back)) * step**2
    table = np.empty((len(vectors), len(vectors)))
    for word, vector in enumerate(vectors):
        points = noise + vector
        outputs = ((points[:, None] - vectors) ** 2).sum(axis=-1).argmin(axis=1)
        table[word] = np.bincount(outputs, mass, minlength=len(vectors))
    return table


@pytest.mark.parametrize("kind", [Laplace, Mahalanobis])
def test_the_mass_of_every_cell_from_every_word_is_the_exact_one(plane, kind):
    rng, every = np.random.default_rng(0), np.arange(len(plane), dtype=np.int64)
    mechanism = kind(plane, EPSILON)
    cells = [Cell(mechanism, o, rng, directions=4000) for o in range(len(plane))]
    found = np.exp([cell.log_likelihoods(every) for cell in cells]).T  # (w, o)
    wanted = exact(plane.vectors, getattr(mechanism, "root", None))
    assert np.abs(wanted.sum(axis=1) - 1).max() < 5e-3  # the grid holds (nearly) all of the noise
    assert np.abs(found - wanted).max() < 0.02
    assert np.abs(np.log(found / wanted))[wanted > 5e-3].max() < 0.2
    assert np.abs(found.sum(axis=1) - 1).max() < 0.03


def test_the_mass_in_fifty_dimensions_is_what_draws_show_and_the_distance_alone_is_not():
    rng = np.random.default_rng(1)
    vectors = rng.normal(scale=0.6, size=(400, 50)).astype(np.float32)
    epsilon, output = 9.0, 3
    near = np.argsort(((vectors - vectors[output]) ** 2).sum(axis=1))[:4]
    draws = 8000
    radius = rng.gamma(50, 1 / epsilon, (4, draws, 1))
    direction = rng.normal(size=(4, draws, 50))
    points = vectors[near][:, None] + radius * direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    squares = (vectors**2).sum(axis=1)
    outputs = np.stack([(squares - 2 * (cloud @ vectors.T)).argmin(axis=1) for cloud in points])
    seen = (outputs == output).mean(axis=1)
    cell = Cell(Laplace(vocabulary(vectors), epsilon), output, rng, directions=2000)
    found = np.exp(cell.log_likelihoods(near))
    error = np.sqrt(seen / draws)
    assert (np.abs(found - seen) < 5 * error + 0.15 * seen).all()
    stand_in = seen[0] * np.exp(-epsilon * np.linalg.norm(vectors[near] - vectors[output], axis=1))
    assert (stand_in[1:] < 1e-3 * seen[1:]).all()
