"""Models trained on sanitised text or by DP-SGD, as targets of the canary experiment."""

from dataclasses import replace

import pytest

from core.attack.conduct import conduct
from core.attack.experiments import private_training
from core.attack.experiments.canaries import prepare_canaries
from core.attack.experiments.private_training import Protection, train_privately
from core.errors import InputError
from core.sanitizing import Sanitizer
from tests.core.attack.experiments.test_canaries import PLAN
from tests.core.attack.mechanisms import small_mechanism
from tests.core.attack.notes import MEMORISING, corpus_of, notes


def test_models_trained_privately_are_targets_of_the_canary_experiment(tiny, settings, monkeypatch):
    monkeypatch.setattr(
        private_training,
        "sanitised_texts",
        lambda kind, texts, epsilon, settings: ["soup tea 11."] * len(texts),
    )
    plan = replace(
        PLAN,
        training=replace(PLAN.training, passes=3),
        targets=("smdp", "dp-sgd"),
        protection=Protection(word_epsilon=3.0, epsilon=1.0),
    )
    ready = prepare_canaries(corpus_of(notes(20, seed=2)), tiny, limits=settings, seed=3, plan=plan)
    assert len(ready.steps) == 4  # two trainings and two attacks: no part is trained that nothing asks for
    run = conduct(settings, ready)
    assert run.status == "finished", run.problem
    targets = {each.target for each in run.outcome.findings}
    assert targets == {
        "a model trained on SMDP text at word epsilon 3",
        "a model trained by DP-SGD at epsilon 1",
    }


def test_sanitised_texts_lose_their_numbers_before_anything_is_trained(settings, monkeypatch, tiny):
    monkeypatch.setattr(Sanitizer, "mechanism", lambda self, noise, epsilon: small_mechanism(epsilon))
    texts = [f"the night nurse {number}" for number in range(10, 40)]
    smdp = private_training.sanitised_texts("smdp", texts, 0.01, settings)
    assert all(text.startswith("the night nurse ") for text in smdp)
    assert sum(a == b for a, b in zip(texts, smdp, strict=True)) < 5
    mdp = private_training.sanitised_texts("mdp", texts, 0.01, settings)
    assert sum(text.startswith("the night nurse ") for text in mdp) < 5
    with pytest.raises(InputError, match="one of mdp"):
        train_privately("none", corpus_of(notes(4, seed=1)), tiny, MEMORISING, settings=settings)
