import math

import numpy as np
import pytest

from core.errors import InputError
from core.predict import Decoding, StrictSubMix
from core.predict.strict import ALLOWANCES
from core.privacy import SLACK, renyi_divergence
from core.store.units import charges, round_down
from tests.core.privacy.pmfs import language_like
from tests.core.privacy.test_strict_loss import exact_loss


def query(parts=4, vocabulary=50, seed=0, spread=1.0):
    rows = language_like(parts, vocabulary, seed, spread)
    return rows[0], rows[1:]


def loud(parts=4, vocabulary=3):
    """Parts so sure of themselves that every query takes its whole allowance."""
    public = np.full(vocabulary, 1.0 / vocabulary)
    rows = np.full((parts, vocabulary), 1e-9)
    rows[np.arange(parts), np.arange(parts) % vocabulary] = 1.0
    return public, rows / rows.sum(axis=1, keepdims=True)


def test_the_answer_is_the_mean_of_the_mixed_parts():
    public, parts = query()
    step = StrictSubMix(4, queries=10).step(public, parts)
    w = step.weights[:, None]
    assert np.allclose(step.pmf, (w * parts + (1 - w) * public).mean(axis=0), rtol=0, atol=1e-15)
    assert step.pmf.sum() == pytest.approx(1.0, abs=1e-13)
    assert step.private


def test_losses_count_parts_and_not_tokens_and_include_the_slack():
    """Against the formula with forty digits, at a loss near one, where single precision would show."""
    for k, vocabulary in ((2, 7), (5, 3), (3, 400)):
        public, parts = query(k, vocabulary, seed=k, spread=2.5)
        protocol = StrictSubMix(k, epsilon=1.0, queries=1, w_max=0.9)
        step = protocol.step(public, parts)
        for i in range(k):
            truth = float(exact_loss(parts[i], public, step.weights[i], k, 0.9, 2.0))
            assert truth + SLACK <= step.losses[i] + 1e-12
            assert step.losses[i] <= truth * (1 + 2e-4) + SLACK + 1e-11
            if step.weights[i] == 0.9:
                assert abs(step.losses[i] - SLACK - truth) < 1e-11


def test_losses_at_the_cap_agree_with_the_formula_to_eleven_digits():
    public, parts = query(6, 600, seed=9, spread=1.2)
    step = StrictSubMix(6, epsilon=100.0, queries=1, w_max=0.5).step(public, parts)
    assert (step.weights == 0.5).all()
    for part, loss in zip(parts, step.losses, strict=True):
        truth = float(exact_loss(part, public, 0.5, 6, 0.5, 2.0))
        assert truth > 1e-3
        assert loss - SLACK - truth == pytest.approx(0.0, abs=2e-12)


def test_losses_include_the_slack():
    """A part that says what the public model says still pays for the rounding of its share."""
    public, parts = query()
    parts[1] = public
    step = StrictSubMix(4, queries=10).step(public, parts)
    assert SLACK <= step.losses[1] <= SLACK + 2e-12


def test_the_released_law_is_the_accounted_one():
    """One step, with and without each part: the divergence of what is sampled stays within the loss."""
    for seed in range(10):
        public, parts = query(3, 6, seed, spread=2.0)
        step = StrictSubMix(3, epsilon=1.0, queries=2, w_max=0.9).step(public, parts)
        for i in range(3):
            rest = parts.copy()
            rest[i] = public
            without = StrictSubMix(3, epsilon=1.0, queries=2, w_max=0.9).step(public, rest)
            assert renyi_divergence(step.pmf, without.pmf, 2.0) <= step.losses[i]
            assert renyi_divergence(without.pmf, step.pmf, 2.0) <= step.losses[i]


def test_the_worst_others_are_paid_for():
    """One step against others who leave the least: with kappa too large, one direction, or too much weight,
    the released law would differ by more than was charged."""
    public = np.array([0.45, 0.05, 0.5])
    for own in ([0.0, 1.0, 0.0], [0.0, 0.05, 0.95]):
        for alpha in (1.5, 2.0, 8.0):
            parts = np.array([own, *[[0.0, 0.0, 1.0]] * 3])
            for w_max in (0.5, 0.9):
                made = [StrictSubMix(4, epsilon=6.0, alpha=alpha, queries=1, w_max=w_max) for _ in range(2)]
                step = made[0].step(public, parts)
                parts_without = np.vstack([public[None], parts[1:]])
                without = made[1].step(public, parts_without)
                assert renyi_divergence(step.pmf, without.pmf, alpha) <= step.losses[0]
                assert renyi_divergence(without.pmf, step.pmf, alpha) <= step.losses[0]


def test_no_part_exceeds_w_max():
    public, parts = query(4, 200, spread=0.01)
    for w_max in (0.1, 0.5, 0.9):
        step = StrictSubMix(4, epsilon=50.0, queries=1, w_max=w_max).step(public, parts)
        assert (step.weights <= w_max).all()
        assert (step.weights == w_max).any()


def test_weight_and_loss_of_a_part_ignore_the_others():
    public, parts = query(4, 30, spread=2.0)
    first = StrictSubMix(4, queries=200).step(public, parts)
    changed = query(4, 30, seed=77, spread=3.0)[1]
    changed[2] = parts[2]
    second = StrictSubMix(4, queries=200).step(public, changed)
    assert first.weights[2] == second.weights[2]
    assert first.losses[2] == second.losses[2]
    assert (first.weights[[0, 1, 3]] != second.weights[[0, 1, 3]]).all()


def test_another_parts_fault_does_not_move_the_last_bit():
    public, parts = query(4, 3000, spread=2.0)
    parts[2] *= 1.0 + 6e-14  # near enough to one to be left as it is
    steps = []
    for scale in (1.0, 1.5, math.nan):
        others = parts.copy()
        others[0] *= scale
        steps.append(StrictSubMix(4, queries=200).step(public, others))
    assert len({step.weights[2] for step in steps}) == 1
    assert len({int(step.units[2]) for step in steps}) == 1
    assert np.allclose(steps[0].pmf, steps[1].pmf, rtol=1e-14, atol=0)


@pytest.mark.parametrize("allowance", ALLOWANCES)
def test_the_rounded_losses_never_add_up_to_more_than_epsilon(allowance):
    for epsilon in (0.3, 1.0, 2.0):
        protocol = StrictSubMix(4, epsilon=epsilon, queries=20, allowance=allowance)
        public, parts = loud()
        ledger = np.zeros(4, dtype=np.int64)
        for _ in range(60):
            step = protocol.step(public, parts)
            assert charges(step.losses) == tuple(step.units)
            ledger += step.units
            assert (ledger <= round_down(epsilon)).all()
            assert (step.remaining >= 0.0).all()
        if allowance != "banked":  # which slows down as it nears the end
            assert (ledger > 0.97 * round_down(epsilon)).all()


def test_an_exhausted_part_fades_without_a_charge():
    public, parts = loud()
    protocol = StrictSubMix(4, epsilon=1.0, queries=3, remaining=[1.0, 0.0, 1e-10, 1.0])
    step = protocol.step(public, parts)
    assert list(step.weights > 0) == [True, False, False, True]
    assert list(step.losses[1:3]) == [0.0, 0.0]
    assert step.remaining[2] == pytest.approx(1e-10)
    spent = StrictSubMix(4, remaining=np.zeros(4))
    silent = spent.step(public, parts)
    assert not silent.private
    assert np.array_equal(silent.pmf, public)


def test_a_corpus_that_the_curator_stopped_answers_from_the_public_model():
    public, parts = loud()
    step = StrictSubMix(4, stopped=True).step(public, parts)
    assert np.array_equal(step.pmf, public)
    assert not step.private
    assert not step.units.any()


def test_a_faulty_part_is_a_missing_part():
    public, parts = query(4, 20)
    for fault in (math.nan, -1.0, 0.0, math.inf):
        broken = parts.copy()
        broken[1, 3] = fault
        if fault == 0.0:
            broken[1] = 0.0
        step = StrictSubMix(4, queries=10).step(public, broken)
        assert step.weights[1] == step.losses[1] == 0.0
        assert np.isfinite(step.pmf).all()
        replaced = parts.copy()
        replaced[1] = public
        there = StrictSubMix(4, queries=10).step(public, replaced)
        assert np.allclose(step.pmf, there.pmf, rtol=1e-14, atol=0)


def test_without_a_public_pmf_there_is_no_answer_and_no_charge():
    public, parts = query()
    protocol = StrictSubMix(4, queries=10)
    for broken in (np.full(50, math.nan), np.zeros(50), -public):
        with pytest.raises(InputError, match="public model"):
            protocol.step(broken, parts)
    assert protocol.used == 0
    assert (protocol.remaining == 2.0).all()


def test_tokens_below_the_public_floor_never_come():
    public, parts = query(4, 6)
    public[2], public[5] = 1e-17, 0.0
    public /= public.sum()
    parts[:, 5] = 0.5
    step = StrictSubMix(4, queries=10).step(public, parts)
    assert step.pmf.shape == (6,)
    assert step.pmf[2] == step.pmf[5] == 0.0
    assert step.pmf.sum() == pytest.approx(1.0)


def test_restored_from_a_ledger_it_goes_on_as_if_never_stopped():
    public, parts = query(4, 40, spread=2.0)
    whole = StrictSubMix(4, queries=30)
    for _ in range(7):
        whole.step(public, parts)
    again = StrictSubMix(4, queries=30, remaining=whole.remaining, used=whole.used)
    later = StrictSubMix(4, queries=30)
    later.restore(whole.remaining, whole.used)
    steps = [protocol.step(public, parts) for protocol in (whole, again, later)]
    for step in steps[1:]:
        assert np.array_equal(step.units, steps[0].units)
        assert np.array_equal(step.pmf, steps[0].pmf)
        assert np.array_equal(step.remaining, steps[0].remaining)


def test_a_ledger_cannot_give_more_than_epsilon():
    protocol = StrictSubMix(3, epsilon=1.0, remaining=[5.0, math.nan, -1.0])
    assert list(protocol.remaining) == [1.0, 0.0, 0.0]
    with pytest.raises(InputError):
        protocol.restore([1.0, 1.0], 0)


def test_rolling_spends_what_cheap_queries_saved():
    public, parts = loud()
    quiet = np.repeat(public[None], 4, axis=0)
    spent = {}
    for allowance in ("rolling", "even"):
        protocol = StrictSubMix(4, epsilon=0.2, queries=20, allowance=allowance)
        for t in range(20):
            protocol.step(public, quiet if t < 10 else parts)
        spent[allowance] = 1.0 - protocol.remaining.max() / 0.2
    assert spent["rolling"] > 0.999
    assert spent["even"] < 0.51


@pytest.mark.parametrize("allowance", ALLOWANCES)
def test_no_part_pays_more_than_was_quoted(allowance):
    public, parts = loud()
    for used in (0, 7, 19, 20, 40):
        for tokens in (0, 1, 5, 30):
            protocol = StrictSubMix(4, epsilon=1.0, queries=20, used=used, allowance=allowance)
            quoted = protocol.quote(tokens)
            for _ in range(tokens):
                protocol.step(public, parts)
            assert 1.0 - protocol.remaining.min() <= quoted + 1e-12
            assert quoted <= 1.0
    assert StrictSubMix(4, epsilon=1.0, queries=20).quote(5) == pytest.approx(0.25)


def test_banked_lets_a_dear_query_take_what_quiet_ones_left():
    public, parts = loud(4, 40)
    quiet = np.repeat(public[None], 4, axis=0)
    steps = {}
    for allowance in ALLOWANCES:
        protocol = StrictSubMix(4, epsilon=0.5, queries=100, allowance=allowance)
        for t in range(60):
            step = protocol.step(public, parts if t == 50 else quiet)
            if t == 50:
                steps[allowance] = step.losses[0]
        assert protocol.remaining.min() > 0.0
    assert steps["even"] < steps["rolling"] < steps["banked"] / 4


def test_tempered_pmfs_are_accounted_as_they_are_sampled():
    logits = np.log(language_like(3, 40, seed=2, spread=2.0))
    decoded = Decoding(temperature=0.5, top_k=10).from_logits(logits)
    step = StrictSubMix(3, epsilon=1.0, queries=2).step(decoded.public, decoded.pmfs[1:])
    for i in range(3):
        rest = decoded.pmfs[1:].copy()
        rest[i] = decoded.public
        without = StrictSubMix(3, epsilon=1.0, queries=2).step(decoded.public, rest)
        assert renyi_divergence(step.pmf, without.pmf, 2.0) <= step.losses[i]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"parts": 1}, "two parts"),
        ({"parts": 4, "alpha": 1.0}, "above 1"),
        ({"parts": 4, "alpha": 1.01}, "at least"),
        ({"parts": 4, "epsilon": 0.0}, "Epsilon"),
        ({"parts": 4, "queries": 0}, "one query"),
        ({"parts": 4, "w_max": 1.0}, "weight"),
        ({"parts": 4, "w_max": 0.995}, "0.99"),
        ({"parts": 4, "allowance": "greedy"}, "rolling"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_reason(settings, reason):
    with pytest.raises(InputError, match=reason):
        StrictSubMix(**settings)


def test_shapes_must_match():
    public, parts = query()
    with pytest.raises(InputError, match="shape"):
        StrictSubMix(5).step(public, parts)
    with pytest.raises(InputError, match="shape"):
        StrictSubMix(4).step(public[:-1], parts)


def test_float32_pmfs_are_normalised_in_double():
    public, parts = query(4, 5000)
    step = StrictSubMix(4, queries=10).step(public.astype(np.float32), parts.astype(np.float32))
    assert step.pmf.dtype == np.float64
    assert abs(step.pmf.sum() - 1.0) < 1e-12
