import math

import numpy as np
import pytest
import torch

from core.errors import InputError
from core.predict import Decoding, StrictSubMix
from tests.core.privacy.pmfs import language_like


def logits(rows=3, vocabulary=60, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, vocabulary)) * 2.0


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def kept(decoded):
    assert decoded.tokens is not None
    return decoded.tokens.tolist()


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
def test_every_model_is_tempered_by_itself(temperature):
    x = logits()
    decoded = Decoding(temperature).from_logits(x)
    assert decoded.tokens is None
    assert np.allclose(decoded.pmfs, softmax(x / temperature), rtol=1e-12)
    assert np.allclose(Decoding(temperature).from_pmfs(softmax(x)).pmfs, decoded.pmfs, rtol=1e-9)


def test_support_comes_from_the_public_pmf_alone():
    x = logits()
    for decoding in (Decoding(top_k=5), Decoding(top_p=0.6), Decoding(0.5, top_k=20, top_p=0.9)):
        before = decoding.from_logits(x)
        changed = x.copy()
        changed[1:] = -changed[1:] * 3
        changed[1:, 0] = 50.0
        after = decoding.from_logits(changed)
        assert kept(before) == kept(after)
        assert np.array_equal(before.public, after.public)


def test_top_k_keeps_the_likeliest_and_renormalises_every_model():
    x = logits()
    decoded = Decoding(top_k=7).from_logits(x)
    assert set(kept(decoded)) == set(np.argsort(-x[0])[:7])
    assert np.allclose(decoded.pmfs, softmax(x[:, kept(decoded)]))
    assert decoded.token(3) == kept(decoded)[3]


def test_top_p_keeps_the_smallest_nucleus():
    pmf = np.array([[0.5, 0.3, 0.15, 0.05], [0.25, 0.25, 0.25, 0.25]])
    for top_p, nucleus in ((0.4, [0]), (0.5, [0]), (0.79, [0, 1]), (0.81, [0, 1, 2])):
        assert kept(Decoding(top_p=top_p).from_pmfs(pmf)) == nucleus


def test_tokens_below_the_public_floor_are_dropped_for_all():
    x = logits()
    x[0, 4] = -60.0
    decoded = Decoding().from_logits(x)
    assert 4 not in kept(decoded)
    whole = Decoding().pmfs(x)
    assert whole.shape == x.shape
    assert not whole[:, 4].any()
    assert np.allclose(whole.sum(axis=1), 1.0)


def test_torch_float32_logits_give_the_same_pmfs():
    x = logits(5, 2000).astype(np.float32)
    here, there = Decoding(0.8).from_logits(x), Decoding(0.8).from_logits(torch.from_numpy(x))
    assert np.allclose(here.pmfs, there.pmfs, rtol=1e-6, atol=0.0)  # exponentials of two libraries
    assert here.pmfs.dtype == there.pmfs.dtype == np.float64
    assert np.abs(there.pmfs.sum(axis=1) - 1.0).max() < 1e-13
    assert np.abs(here.pmfs.sum(axis=1) - 1.0).max() < 1e-13
    assert np.allclose(here.pmfs, softmax(x.astype(np.float64) / 0.8), rtol=1e-5)
    low = Decoding().from_logits(torch.from_numpy(x).bfloat16())
    assert np.abs(low.pmfs.sum(axis=1) - 1.0).max() < 1e-13


def test_a_row_depends_on_that_row_and_the_public_one_only():
    x = logits(5, 300).astype(np.float32)
    before = Decoding(top_k=50).from_logits(x)
    changed = x.copy()
    changed[2:] += 1.0 + np.arange(300, dtype=np.float32)
    assert np.array_equal(before.pmfs[1], Decoding(top_k=50).from_logits(changed).pmfs[1])


def test_a_broken_part_stays_visible_and_a_broken_public_model_is_an_error():
    x = logits()
    x[1, 0] = math.nan
    assert np.isnan(Decoding().from_logits(x).pmfs[1]).all()
    x[0, 0] = math.nan
    with pytest.raises(InputError, match="public model"):
        Decoding().from_logits(x)


def test_halves_are_neighbouring_rows():
    pmfs = language_like(6, 10, seed=1)
    halves = Decoding().from_pmfs(pmfs).query("halves").rows
    assert halves.shape == (3, 2, 10)
    assert np.allclose(halves[1, 0], pmfs[3])


@pytest.mark.parametrize(
    "settings",
    [{"temperature": 0.0}, {"temperature": -1.0}, {"temperature": math.nan}, {"top_k": 0}, {"top_p": 0.0}],
)
def test_greedy_and_nonsense_are_refused(settings):
    with pytest.raises(InputError):
        Decoding(**settings)


def test_the_refusal_of_greedy_says_why():
    with pytest.raises(InputError, match="greedy"):
        Decoding(temperature=0)


def test_a_model_whose_logits_are_no_numbers_is_marked_and_stands_as_the_public_one():
    logits = torch.randn(5, 300)
    logits[2, 17] = float("nan")
    logits[3] = -float("inf")
    query = Decoding(temperature=0.7).from_logits(logits).query()
    assert query.good.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(query.rows[1], query.public)
    np.testing.assert_allclose(query.rows.sum(1), 1.0, atol=1e-13)
    halves = Decoding().from_logits(logits).query("halves")
    assert halves.good.tolist() == [[True, False], [False, True]]


def test_what_the_protocol_reads_of_logits_is_what_it_reads_of_pmfs():
    decoded = Decoding().from_logits(torch.randn(5, 300))
    one, two = StrictSubMix(4, queries=8), StrictSubMix(4, queries=8)
    seen, given = one.answer(decoded.query()), two.step(decoded.public, decoded.pmfs[1:])
    np.testing.assert_allclose(seen.pmf, given.pmf, rtol=1e-13)
    np.testing.assert_allclose(seen.losses, given.losses, atol=1e-11)
    with pytest.raises(InputError, match="shape"):
        one.answer(decoded.query("halves"))
