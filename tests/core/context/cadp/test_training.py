"""Algorithm 1: DP-SGD on the flagged, SGD on the rest, every step accounted, and the same after a stop."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from core.context.cadp.accounting import PrivacyAccount, spent
from core.context.cadp.dpsgd import Learner
from core.context.cadp.plan import CadpProgress, CadpSettings, Plan
from core.context.cadp.randomness import SeededRandomness
from core.context.cadp.training import CadpTraining, Trained
from core.errors import InputError
from core.lm.training import TrainingCancelled
from tests.core.context.cadp.learners import FixedGradients, adapter, lstm, records
from tests.core.context.cadp.test_randomness import looks_poisson

IN_TURN = CadpSettings(
    passes=1.5, batch=4, length=16, noise=0.0, optimizer="sgd", updates="in turn", learning_rate=0.5, seed=7
)
TOGETHER = replace(IN_TURN, optimizer="adam", updates="together", learning_rate=0.01)
LEARNERS: list[Callable[[], Learner]] = [lstm, adapter]
COUNT = 24
SOME = [number % 3 == 0 for number in range(COUNT)]
ALL, NONE = [True] * COUNT, [False] * COUNT


def train(make, flags, settings=IN_TURN, mechanism="cadp", **more) -> tuple[list[torch.Tensor], Trained]:
    learner = make()
    trained = CadpTraining(learner, flags, settings, mechanism=mechanism, **more).run()
    return [p.detach().clone() for p in learner.parameters], trained


def same(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def reference(make, flags, settings, *, clip: float | None) -> list[torch.Tensor]:
    """The algorithm again, written down plainly: one sequence after the other, no Opacus."""
    learner, source = make(), SeededRandomness(settings.seed)
    plan = Plan.of(settings, COUNT, "cadp")
    warm = max(1, round(plan.steps * settings.warmup))
    for step in range(plan.steps):
        rate = (step + 1) / warm if step < warm else (plan.steps - step) / max(1, plan.steps - warm)
        source.start(step)
        drawn = source.batch(COUNT, plan.rate).tolist()
        for private in (True, False):
            total = [torch.zeros_like(p) for p in learner.parameters]
            for number in [i for i in drawn if flags[i] == private]:
                (measured,) = learner.per_sample(torch.tensor([number]))
                gradient = [g[0] for g in measured.gradients]
                norm = float(torch.cat([g.flatten() for g in gradient]).double().norm())
                factor = min(1.0, clip / norm) if private and clip else 1.0
                total = [t + factor * g for t, g in zip(total, gradient, strict=True)]
            for p, t in zip(learner.parameters, total, strict=True):
                p.data -= settings.learning_rate * rate * t / settings.batch
    return [p.detach().clone() for p in learner.parameters]


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("settings", [IN_TURN, TOGETHER], ids=["in turn", "together"])
def test_a_detector_that_flags_all_is_dp_sgd_and_one_that_flags_none_is_sgd_to_the_bit(make, settings):
    everything, _ = train(make, ALL, settings)
    assert same(everything, train(make, ALL, settings, "dp-sgd")[0])
    nothing, trained = train(make, NONE, settings)
    assert same(nothing, train(make, NONE, settings, "none")[0])
    assert trained.account.steps == trained.plan.steps
    assert not same(everything, nothing)


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("flags", [ALL, SOME, NONE], ids=["all", "some", "none"])
def test_training_is_algorithm_1_as_it_is_written(make, flags):
    settings = replace(IN_TURN, clip=0.02)
    got, _ = train(make, flags, settings)
    wanted = reference(make, flags, settings, clip=0.02)
    for a, b, start in zip(got, wanted, make().parameters, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)
        assert not torch.equal(a, start)


def test_every_step_is_accounted_also_with_an_empty_batch():
    settings = replace(IN_TURN, noise=1.0, batch=1, passes=2)
    _, trained = train(lstm, SOME, settings)
    assert any(point.drawn == 0 for point in trained.history)
    assert any(point.flagged == 0 for point in trained.history)
    assert trained.account.state()["history"] == [[1.0, 1.0 / COUNT, trained.plan.steps]]
    assert trained.plan.steps == 2 * COUNT
    epsilons = [point.epsilon for point in trained.history]
    assert epsilons == sorted(epsilons)
    assert epsilons[-1] == spent(1.0, 1.0 / COUNT, trained.plan.steps, settings.delta)


def test_a_corpus_without_a_flagged_sequence_gets_noise_all_the_same():
    settings = replace(IN_TURN, noise=1.0)
    noisy, trained = train(lstm, NONE, settings)
    assert not same(noisy, train(lstm, NONE, settings, "none")[0])
    assert trained.account.steps == trained.plan.steps


def test_without_privacy_nothing_is_accounted():
    _, trained = train(lstm, NONE, mechanism="none")
    assert trained.account.steps == 0
    assert not trained.plan.private


def test_the_engine_draws_poisson_batches():
    settings = replace(IN_TURN, batch=6, passes=40, seed=3)
    _, trained = train(lambda: FixedGradients(torch.zeros(60, 4)), [True] * 60, settings)
    assert looks_poisson([point.drawn for point in trained.history], 60, 0.1)


def test_the_engine_s_private_updates_never_move_the_weights_by_more_than_clip_and_rate_allow():
    """At zero noise a step moves at most learning rate * drawn * C / batch, however large the gradients."""
    settings = replace(IN_TURN, clip=0.1, learning_rate=1.0, passes=3, warmup=0.0)
    make = FixedGradients(1e3 * torch.randn(COUNT, 10, generator=torch.Generator().manual_seed(0)))
    training = CadpTraining(make, ALL, settings)
    places = [torch.zeros(10)]
    training._clock._progress = lambda progress: places.append(
        torch.cat([p.detach() for p in make.parameters])
    )
    trained = training.run()
    for before, after, point in zip(places, places[1:], trained.history, strict=False):
        assert float((after - before).norm()) <= point.drawn * 0.1 / 4 * (1.0 + 1e-4)


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("settings", [IN_TURN, TOGETHER], ids=["in turn", "together"])
def test_a_stopped_training_goes_on_to_the_same_weights_and_the_same_account(make, settings, tmp_path):
    settings = replace(settings, noise=0.7, checkpoint_steps=2)
    wanted, whole = train(make, SOME, settings)
    calls = iter(range(100))
    with pytest.raises(TrainingCancelled):
        CadpTraining(make(), SOME, settings, cancelled=lambda: next(calls) >= 5).run(tmp_path)
    learner = make()
    resumed = CadpTraining(learner, SOME, settings).run(tmp_path)
    assert same([p.detach() for p in learner.parameters], wanted)
    assert resumed.account.state() == whole.account.state()
    assert resumed.history == whole.history


def test_a_checkpoint_of_another_training_or_a_damaged_one_is_not_gone_on_from(tmp_path):
    wanted, _ = train(lstm, SOME)
    CadpTraining(lstm(), ALL, IN_TURN).run(tmp_path)
    learner = lstm()
    CadpTraining(learner, SOME, replace(IN_TURN, checkpoint_steps=1)).run(tmp_path)
    assert same([p.detach() for p in learner.parameters], wanted)
    (tmp_path / "cadp.safetensors").write_bytes(b"no checkpoint")
    learner = lstm()
    CadpTraining(learner, SOME, IN_TURN).run(tmp_path)
    assert same([p.detach() for p in learner.parameters], wanted)


def test_a_seed_repeats_a_training_and_the_system_s_randomness_does_not():
    settings = replace(IN_TURN, noise=0.5)
    first, _ = train(lstm, SOME, settings)
    assert same(first, train(lstm, SOME, settings)[0])
    assert not same(first, train(lstm, SOME, replace(settings, seed=8))[0])
    fresh = replace(settings, seed=None)
    assert not same(train(lstm, SOME, fresh)[0], train(lstm, SOME, fresh)[0])


@pytest.mark.parametrize("make", LEARNERS)
def test_progress_rises_to_the_end_with_time_left_loss_and_epsilon(make):
    seen: list[CadpProgress] = []
    train(make, SOME, replace(IN_TURN, noise=1.0), progress=seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert seen[-1].seconds_left == pytest.approx(0.0, abs=1e-6)
    training = [progress for progress in seen if progress.stage == "training"]
    assert [progress.step for progress in training] == list(range(1, training[-1].steps + 1))
    assert training[0].epsilon < training[-1].epsilon
    assert any(progress.loss is not None and progress.loss > 0.0 for progress in training)
    assert (seen[0].stage == "reading") == (make is adapter)


def test_a_stop_while_the_corpus_is_read_is_heard():
    with pytest.raises(TrainingCancelled):
        CadpTraining(adapter(), SOME, IN_TURN, cancelled=lambda: True).run()


def test_both_learners_learn():
    data = records(COUNT)
    for make, rate in ((lstm, 0.1), (adapter, 0.03)):
        settings = replace(TOGETHER, passes=10, learning_rate=rate)
        _, trained = train(lambda make=make: make(data), NONE, settings, "none")
        losses = [point.loss for point in trained.history if point.loss is not None]
        assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.5


def test_noise_is_found_for_the_epsilon_that_is_asked_for():
    settings = CadpSettings(passes=2, batch=10, epsilon=3.0, delta=1e-5)
    plan = Plan.of(settings, 500, "cadp")
    assert plan.steps == 100
    assert 2.9 < PrivacyAccount([(plan.noise, plan.rate, plan.steps)]).epsilon(1e-5) <= 3.0
    assert Plan.of(replace(settings, noise=0.3), 500, "cadp").noise == 0.3
    assert Plan.of(settings, 4, "cadp").rate == 1.0


def test_settings_that_cannot_be_used_are_refused():
    wrong: list[dict[str, Any]] = [
        {"passes": 0}, {"batch": 0}, {"length": 1}, {"clip": 0.0}, {"noise": -1.0}, {"epsilon": 0.0},
        {"delta": 1.0}, {"learning_rate": 0.0}, {"warmup": 1.0}, {"updates": "in turn"},
    ]  # fmt: skip
    for values in wrong:
        with pytest.raises(InputError):
            CadpSettings(**values)
    with pytest.raises(InputError, match="no sequences"):
        Plan.of(CadpSettings(), 0, "cadp")
