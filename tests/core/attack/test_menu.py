"""What can be asked for: every attack by its name, and a sentence for each thing that cannot be."""

from dataclasses import replace

import numpy as np
import pytest

from core.attack import private_training
from core.attack.canary_run import prepare_canaries
from core.attack.conduct import conduct
from core.attack.menu import (
    ATTACKS,
    Asked,
    find_subject,
    offered_targets,
    prepare,
    questions_from,
    usual_targets,
)
from core.attack.private_training import Protection, train_privately
from core.attack.reconstruction_run import ReconstructionPlan, prepare_reconstruction
from core.errors import InputError
from core.sanitize import Vocabulary, make_mechanism
from tests.core.attack.notes import MEMORISING, WORDS, corpus_of, notes
from tests.core.attack.test_canary_run import PLAN
from tests.ensembles import make_ensemble


@pytest.fixture
def tiny_settings(settings, tiny_llama):
    return settings.model_copy(update={"model": str(tiny_llama)})


def public_of(settings):
    from core.lm.public import load_public

    return lambda: load_public(settings.model, settings)


def test_every_attack_of_the_menu_has_targets_that_it_offers(tiny_settings):
    make_ensemble(tiny_settings, "notes", synthetic=True, halves=True)
    entry = find_subject(tiny_settings, "notes")
    for name, attack in ATTACKS.items():
        offered = offered_targets(name, entry)
        assert set(usual_targets(name, entry)) <= set(offered)
        assert attack.least <= attack.usual <= attack.most
        assert bool(offered) == (name != "stop")
    assert {"mdp", "smdp", "cadp", "dp-sgd", "whole", "pmixed", "submix"} <= set(
        offered_targets("canaries", None)
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"attack": "nonsense"}, "An attack is one of"),
        ({"amount": 0}, "between 1 and 40"),
        ({"epsilon": -1.0}, "between 0.01"),
        ({"epsilon": float("nan")}, "between 0.01"),
        ({"seed": -1}, "whole number"),
        ({"copies": 0}, "between 1 and 200"),
        ({"text": "x" * 30_000}, "at most 20,000"),
    ],
)
def test_what_cannot_be_asked_for_is_a_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        Asked(**changes)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Asked(subject="nothing"), "nothing named 'nothing'"),
        (Asked(subject="notes"), "Only the demonstration's secrets are known"),
        (Asked(subject="notes", text="no arrow here"), "words => secret"),
        (Asked(subject="notes", text="a => 1", targets=("submix",)), "no target 'submix'"),
        (Asked("membership", subject="notes"), "one a line"),
        (Asked("canaries", template="My ID is 5."), "needs a hole"),
        (Asked("canaries", template="My ID is {digits:13}."), "too many to rank"),
        (Asked("canaries", targets=("nonsense",)), "A target is one of"),
        (Asked("canaries", copies=200, spread=True), "cannot be spread"),
        (Asked("codes", targets=("whole",)), "no target 'whole'"),
        (Asked("audit", targets=("nonsense",)), "plays on"),
        (Asked("reconstruction", targets=("whole",)), "one of smdp, mdp"),
    ],
)
def test_each_mistake_has_its_sentence_before_anything_runs(tiny_settings, tiny_llama, asked, sentence):
    make_ensemble(tiny_settings, "notes", synthetic=True)
    with pytest.raises(InputError, match=sentence):
        prepare(asked, tiny_settings, public_of(tiny_settings))


def test_secrets_are_written_one_a_line():
    found = questions_from("The door code is => 4121\n\n  My PIN is=>77 ")
    assert [(each.prompt, each.secret) for each in found] == [
        ("The door code is", "4121"),
        ("My PIN is", "77"),
    ]


def test_a_target_that_is_deleted_while_it_is_attacked_ends_with_a_sentence_and_keeps_the_rest(tiny_settings):
    import shutil

    folder = make_ensemble(tiny_settings, "notes", synthetic=True)
    asked = Asked(subject="notes", text="The night nurse => 12", targets=("whole", "public"))
    ready = prepare(asked, tiny_settings, public_of(tiny_settings))
    found = []

    def gone_after_the_first(outcome):
        found.append(outcome)
        shutil.rmtree(folder, ignore_errors=True)

    run = conduct(tiny_settings, ready, notice=gone_after_the_first)
    assert run.status == "stopped"
    assert "was deleted or trained again" in run.problem
    assert [each.target for each in run.outcome.findings] == ["no protection"]


def small_mechanism(epsilon):
    vectors = np.random.default_rng(3).normal(size=(len(WORDS) + 100, 6))
    words = [*WORDS, *(f"{number:02d}" for number in range(100))]
    return make_mechanism("euclidean", Vocabulary(words, vectors.astype(np.float32)), epsilon)


def test_reconstruction_is_a_run_with_both_attackers_on_both_texts(tiny, settings):
    plan = ReconstructionPlan("the night nurse wrote 12 and 47", 500.0, most=4)
    run = conduct(settings, prepare_reconstruction(small_mechanism(500.0), lambda: tiny, seed=0, plan=plan))
    assert run.status == "finished"
    assert len(run.outcome.findings) == 4
    assert {each.total for each in run.outcome.findings} == {2, 4}
    assert max(each.value for each in run.outcome.findings) == 1.0
    assert "names 2 of 2 perturbed words" in run.outcome.verdict[0]
    with pytest.raises(InputError, match="nothing can be undone"):
        prepare_reconstruction(
            small_mechanism(5.0),
            lambda: tiny,
            seed=0,
            plan=replace(plan, text="no number", targets=("smdp",)),
        )


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
    run = conduct(settings, ready)
    assert run.status == "finished", run.problem
    targets = {each.target for each in run.outcome.findings}
    assert targets == {"training on SMDP text at word epsilon 3", "training by DP-SGD at epsilon 1"}


def test_sanitised_texts_lose_their_numbers_before_anything_is_trained(settings, monkeypatch, tiny):
    from core.sanitizing import Sanitizer

    monkeypatch.setattr(Sanitizer, "mechanism", lambda self, noise, epsilon: small_mechanism(epsilon))
    texts = [f"the night nurse {number}" for number in range(10, 40)]
    smdp = private_training.sanitised_texts("smdp", texts, 0.01, settings)
    assert all(text.startswith("the night nurse ") for text in smdp)
    assert sum(a == b for a, b in zip(texts, smdp, strict=True)) < 5
    mdp = private_training.sanitised_texts("mdp", texts, 0.01, settings)
    assert sum(text.startswith("the night nurse ") for text in mdp) < 5
    with pytest.raises(InputError, match="one of mdp"):
        train_privately("none", corpus_of(notes(4, seed=1)), tiny, MEMORISING, settings=settings)
