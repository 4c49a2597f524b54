import math

import numpy as np
import pytest

from core.errors import InputError
from core.predict import PROTOCOLS, Ensemble, FineTuned, GNMax, PMixED, PublicOnly, SubsampleAggregate
from core.privacy import symmetric_renyi
from tests.core.privacy.pmfs import language_like


@pytest.fixture
def query():
    rows = language_like(4, 30, seed=3, spread=1.5)
    return rows[0], rows[1:]


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_every_protocol_has_the_same_shape_of_call(name, query):
    public, parts = query
    cls = PROTOCOLS[name]
    protocol = cls(4, 2.0, 2.0, 16, **({} if cls.protected else {"synthetic": True}))
    rows = {"parts": parts, "halves": np.repeat(parts[:, None], 2, axis=1), "whole": parts[:1]}[cls.shape]
    twin = protocol.copy()
    for _ in range(20):
        step = protocol.step(public, rows)
        assert step.pmf.shape == public.shape
        assert step.pmf.sum() == pytest.approx(1.0, abs=1e-9)
        assert step.pmf.min() >= 0.0
        assert step.weights.shape == step.losses.shape == step.remaining.shape == step.units.shape == (4,)
        assert isinstance(step.private, bool)
        assert (step.losses >= 0.0).all()
        assert (step.remaining >= 0.0).all()
    assert protocol.used == 20
    assert twin.used == 0
    assert (twin.remaining == 2.0).all()
    assert 0.0 <= protocol.quote(3) <= 2.0


def test_pmixed_keeps_every_part_within_its_radius_and_ends(query):
    public, parts = query
    protocol = PMixED(4, 2.0, 2.0, 8)
    step = protocol.step(public, parts)
    for w, part in zip(step.weights, parts, strict=True):
        distance = symmetric_renyi(w * part + (1 - w) * public, public, 2.0)
        assert distance <= protocol.radius
        assert distance >= protocol.radius * (1 - 1e-3) or w > 0.98
    cost = math.log((3 + math.exp(protocol.radius)) / 4)
    assert cost <= step.losses[0] <= cost + 2e-9
    for _ in range(7):
        protocol.step(public, parts)
    last = protocol.step(public, parts)
    assert not last.private
    assert np.array_equal(last.pmf, public)
    assert not last.losses.any()


def test_pmixed_losses_do_not_depend_on_the_data(query):
    public, parts = query
    agreed = np.repeat(public[None], 4, axis=0)
    assert np.array_equal(PMixED(4).step(public, parts).losses, PMixED(4).step(public, agreed).losses)


def test_laplace_noise_shrinks_with_budget(query):
    public, parts = query
    scales = [SubsampleAggregate(4, epsilon, 2.0, 16).scale for epsilon in (0.5, 2.0, 100.0)]
    assert scales == sorted(scales, reverse=True)
    near = SubsampleAggregate(4, 1000.0, 2.0, 1, generator=np.random.default_rng(1)).step(public, parts)
    assert np.abs(near.pmf - parts.mean(axis=0)).max() < 1e-2


def test_subsample_aggregate_ends_after_its_queries(query):
    public, parts = query
    protocol = SubsampleAggregate(4, 2.0, 2.0, 3)
    assert [protocol.step(public, parts).private for _ in range(5)] == [True, True, True, False, False]
    assert (protocol.remaining >= 0.0).all()


def test_gnmax_follows_consensus_and_pays_less_for_it():
    public = np.full(10, 0.1)
    agreed = np.full((64, 10), 0.01)
    agreed[:, 3] = 0.91
    split = np.full((64, 10), 0.01)
    split[np.arange(64), np.arange(64) % 10] = 0.91
    easy = GNMax(64, 2.0, 2.0, 16, sigma=8.0).step(public, agreed)
    hard = GNMax(64, 2.0, 2.0, 16, sigma=8.0).step(public, split)
    assert easy.pmf.argmax() == 3
    assert easy.pmf[3] > 0.99
    assert easy.losses[0] < hard.losses[0] / 10
    assert hard.losses[0] == pytest.approx(2.0 / 64, abs=2e-9)


def test_gnmax_stops_for_good_when_a_budget_is_empty():
    public = np.full(4, 0.25)
    split = np.eye(4) * 0.9 + 0.025
    protocol = GNMax(4, 0.1, 2.0, 16, sigma=5.0)
    private = [protocol.step(public, split).private for _ in range(4)]
    assert private == [True, False, False, False]


def test_faulty_parts_answer_with_the_public_pmf(query):
    public, parts = query
    parts = parts.copy()
    parts[2] = math.nan
    for cls in (PMixED, SubsampleAggregate, GNMax):
        assert np.isfinite(cls(4, 2.0, 2.0, 4).step(public, parts).pmf).all()


def test_public_only_reads_and_charges_nothing(query):
    public, parts = query
    step = PublicOnly(4).step(public, parts)
    assert np.array_equal(step.pmf, public)
    assert not step.private
    assert not step.losses.any()


@pytest.mark.parametrize("cls", [Ensemble, FineTuned])
def test_unprotected_answers_are_refused_outside_synthetic_corpora(cls):
    with pytest.raises(InputError, match="synthetic"):
        cls(4)
    with pytest.raises(InputError, match="synthetic"):
        cls(4, synthetic=False)


def test_unprotected_answers_are_what_they_say(query):
    public, parts = query
    assert np.allclose(Ensemble(4, synthetic=True).step(public, parts).pmf, parts.mean(axis=0))
    assert np.allclose(FineTuned(4, synthetic=True).step(public, parts[2:3]).pmf, parts[2])


@pytest.mark.parametrize("cls", [PMixED, GNMax])
def test_order_infinity_is_refused_where_it_has_no_account(cls):
    with pytest.raises(InputError):
        cls(4, 2.0, math.inf, 8)
