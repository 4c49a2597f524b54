"""A training that was stopped or died goes on as if nothing had been; its account never counts too little."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.checkpoint import read_reached, write_reached
from core.context.cadp.plan import CadpProgress
from core.context.cadp.randomness import OsRandomness
from core.context.cadp.training import CadpTraining, Trained
from core.lm.training import TrainingCancelled
from tests.core.context.cadp.learners import adapter, lstm
from tests.core.context.cadp.stopping import Crash, crash_at
from tests.core.context.cadp.test_training import IN_TURN, LEARNERS, SOME, TOGETHER, same

EVERY = 4  # steps between two checkpoints; there are nine


def run(make, folder: Path | None, settings, **more) -> tuple[list[torch.Tensor], Trained]:
    learner = make()
    trained = CadpTraining(learner, SOME, settings, **more).run(folder)
    return [p.detach().clone() for p in learner.parameters], trained


def crash(make, folder: Path, settings, step: int) -> None:
    with pytest.raises(Crash):
        run(make, folder, settings, progress=crash_at(step))


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("settings", [IN_TURN, TOGETHER], ids=["in turn", "together"])
def test_continued_is_uninterrupted_in_steps_epsilon_and_seeded_weights(make, noise, settings, tmp_path):
    settings = replace(settings, noise=noise, checkpoint_steps=EVERY)
    wanted, whole = run(make, None, settings)
    calls = iter(range(100))
    with pytest.raises(TrainingCancelled):
        run(make, tmp_path, settings, cancelled=lambda: next(calls) >= 6)
    weights, resumed = run(make, tmp_path, settings)
    assert same(weights, wanted)
    assert resumed.account.steps == whole.account.steps == whole.plan.steps
    assert resumed.account.epsilon(1e-5) == whole.account.epsilon(1e-5)
    assert resumed.history == whole.history


def test_whenever_it_dies_the_checkpoint_has_an_entry_for_every_update_in_its_weights(tmp_path):
    settings, places = replace(TOGETHER, noise=0.7, checkpoint_steps=EVERY), []
    learner = lstm()
    CadpTraining(
        learner,
        SOME,
        settings,
        progress=lambda progress: places.append([p.detach().clone() for p in learner.parameters]),
    ).run()
    for step in range(1, len(places) + 1):
        folder = tmp_path / str(step)
        crash(lstm, folder, settings, step)
        reached = read_reached(folder)
        made = (step if step == len(places) else step - step % EVERY) if step >= EVERY else 0
        assert (len(reached.history) if reached else 0) == made
        if reached:
            assert PrivacyAccount.restore(reached.account).steps == made
            assert same(reached.weights, places[made - 1])


def test_steps_that_a_crash_took_are_made_again_with_fresh_noise_and_counted_once(tmp_path, monkeypatch):
    settings = replace(TOGETHER, noise=0.7, seed=None, checkpoint_steps=EVERY)
    drawn: list[int] = []
    normal = OsRandomness.normal

    def counted(self, shape):
        drawn.append(shape.numel())
        return normal(self, shape)

    monkeypatch.setattr(OsRandomness, "normal", counted)
    crash(lstm, tmp_path / "a", settings, EVERY + 2)
    before = len(drawn) // 3  # one draw for each of the three weights
    assert before == EVERY + 2
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    first, trained = run(lstm, tmp_path / "a", settings)
    steps = trained.plan.steps
    assert len(drawn) // 3 == before + steps - EVERY
    assert trained.account.state()["history"] == [[0.7, trained.plan.rate, steps]]
    assert [point.step for point in trained.history] == list(range(1, steps + 1))
    second, _ = run(lstm, tmp_path / "b", settings)
    assert not same(first, second)  # no noise of the first run is ever drawn again


def test_after_the_last_step_nothing_is_drawn_again_so_that_one_model_leaves_and_not_two(
    tmp_path, monkeypatch
):
    settings = replace(TOGETHER, noise=0.7, seed=None, checkpoint_steps=100)
    first, trained = run(adapter, tmp_path, settings)
    monkeypatch.setattr(OsRandomness, "batch", None)  # whoever draws fails
    monkeypatch.setattr(OsRandomness, "normal", None)
    again, resumed = run(adapter, tmp_path, settings)
    assert same(first, again)
    assert resumed.account.state() == trained.account.state()


def test_weights_with_an_update_that_is_not_accounted_are_not_gone_on_from(tmp_path):
    settings = replace(TOGETHER, noise=0.7, checkpoint_steps=EVERY)
    crash(lstm, tmp_path, settings, EVERY + 1)
    reached = read_reached(tmp_path)
    assert reached is not None
    (sigma, rate, steps) = reached.account["history"][0]
    fewer = {**reached.account, "history": [[sigma, rate, steps - 1]]}
    write_reached(tmp_path, replace(reached, account=fewer))
    seen: list[CadpProgress] = []
    _, trained = run(lstm, tmp_path, settings, progress=seen.append)
    assert seen[0].step == 1  # from the beginning
    assert trained.account.steps == trained.plan.steps


@pytest.mark.parametrize("make", LEARNERS)
def test_progress_goes_on_from_what_was_reached_and_never_back(make, tmp_path):
    settings, seen = replace(TOGETHER, noise=0.7, checkpoint_steps=EVERY), list[CadpProgress]()
    crash(make, tmp_path, settings, EVERY + 1)
    reached = read_reached(tmp_path, tensors=False)
    assert reached is not None
    assert reached.weights == []
    run(make, tmp_path, settings, progress=seen.append)
    shares = [reached.share, *(progress.share for progress in seen)]
    assert shares == sorted(shares)
    assert 0.0 < shares[0] < shares[-1] == pytest.approx(1.0)
    epsilons = [progress.epsilon for progress in seen]
    assert epsilons == sorted(epsilons)
    assert epsilons[0] > 0.0
    assert [point.step for point in seen[-1].history] == list(range(1, reached.steps + 1))


def test_a_checkpoint_is_for_its_owner_alone(tmp_path):
    folder = tmp_path / "new"
    run(lstm, folder, IN_TURN)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
