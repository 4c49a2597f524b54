"""The search is exact: it agrees with faiss and with a plain loop, near the words and far from them."""

import threading

import numpy as np
import pytest
import threadpoolctl

from core.sanitize.noise import draw_noise
from core.sanitize.search import NearestWords
from core.sanitize.threads import single_threaded_blas


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 12.0])
def test_the_nearest_word_is_the_one_that_faiss_finds(glove, epsilon):
    import faiss

    rng = np.random.default_rng(0)
    at = rng.integers(0, 50_000, 40)
    points = (glove.vectors[at] + draw_noise(40, 50, epsilon, rng)).astype(np.float32)
    found = glove.nearest(points)
    index = faiss.IndexFlatL2(50)
    index.add(np.ascontiguousarray(glove.vectors))
    _, theirs = index.search(points, 1)
    wide = points.astype(np.float64)
    ours, faiss_ = (np.linalg.norm(wide - glove.vectors[i], axis=1) for i in (found, theirs[:, 0]))
    assert (ours <= faiss_ * (1 + 1e-6)).all()
    if epsilon > 0.1:  # farther out faiss, which adds |q|^2, runs out of float32 and we do not
        assert (found == theirs[:, 0]).all()


@pytest.mark.parametrize("words", [2, 3, 2047, 2048, 2049, 5000])
@pytest.mark.parametrize("points", [1, 255, 300])
def test_no_word_is_missed_at_the_edges_of_blocks_and_shards(words, points):
    rng = np.random.default_rng(words)
    vectors = rng.standard_normal((words, 4)).astype(np.float32)
    queries = rng.standard_normal((points, 4))
    expected = ((queries[:, None] - vectors[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (NearestWords(vectors).nearest(queries) == expected).all()


def test_neighbours_are_ranked_by_distance_without_the_word_itself(glove):
    neighbours = glove.neighbours("Queen", 5)
    assert neighbours[0][0] == "princess"
    assert [distance for _, distance in neighbours] == sorted(distance for _, distance in neighbours)
    assert neighbours[0][1] == pytest.approx(glove.distance(glove.index["queen"], glove.index["princess"]))
    assert glove.neighbours("qqqqqqqq") == []


def test_the_radius_of_a_cell_is_where_another_word_becomes_nearer(glove):
    rng = np.random.default_rng(1)
    at = glove.index["hospital"]
    directions = rng.standard_normal((4, 50))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = glove.search.cell_radii(at, directions)
    inside = glove.vectors[at] + directions * (radii * 0.999)[:, None]
    outside = glove.vectors[at] + directions * (radii * 1.001)[:, None]
    assert (glove.nearest(inside) == at).all()
    assert (glove.nearest(outside) != at).all()


def test_a_word_on_the_edge_of_all_has_no_border_outwards():
    search = NearestWords(np.array([[0.0, 0.0], [1.0, 0.0]], np.float32))
    assert search.cell_radii(0, np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])).tolist() == [
        0.5,
        np.inf,
        np.inf,
    ]


def test_the_matrix_library_has_its_threads_back_after_searches_side_by_side():
    before = [
        entry["num_threads"] for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"
    ]
    entered, leave = threading.Barrier(3), threading.Event()

    def search():
        with single_threaded_blas():
            entered.wait()
            leave.wait()

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    entered.wait()
    leave.set()
    for thread in threads:
        thread.join()
    after = [entry["num_threads"] for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"]
    assert after == before
