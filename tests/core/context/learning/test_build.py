"""Building a head: honest thresholds, and the same head from the same seed."""

from dataclasses import replace

import numpy as np
import pytest

from core.context.learning.build import calibration, choose_threshold, train_head
from core.context.learning.train import TrainingPlan
from core.context.learning.widen import targets
from core.context.reader import Reader
from core.errors import InputError

PLAN = TrainingPlan(layers=(1, 3), networks=2, width=8, epochs=30, batch=32, rate=5e-3, fillings=1)


@pytest.fixture(scope="module")
def built(tiny_encoder, some_families):
    return train_head(some_families, tiny_encoder, encoder_name="tiny", plan=PLAN, folds=2)


def test_the_same_seed_builds_the_same_head(built, tiny_encoder, some_families):
    again = train_head(some_families, tiny_encoder, encoder_name="tiny", plan=PLAN, folds=2)
    assert (again.head.weights == built.head.weights).all()
    assert again.head.threshold == built.head.threshold
    assert (again.head.hidden == built.head.hidden).all()


def test_the_head_learned_its_families(built, tiny_encoder, some_families):
    examples = [example for family in some_families for example in family.examples() if not example.before]
    features = Reader(tiny_encoder, built.head).features(
        [each.text for each in examples], [""] * len(examples)
    )
    logits = np.log(built.head.probabilities(features) / (1 - built.head.probabilities(features)))
    sensitive = np.array([example.sensitive for example in examples])
    assert logits[sensitive].mean() > logits[~sensitive].mean()
    assert built.head.about.families == 4


def test_cross_validation_scores_every_sentence_by_a_model_that_never_saw_its_family(
    built, tiny_encoder, some_families, monkeypatch
):
    seen = []
    monkeypatch.setattr(
        "core.context.learning.build.targets",
        lambda families, **rest: seen.append({f.name for f in families}) or targets(families, **rest),
    )
    train_head(
        some_families,
        tiny_encoder,
        encoder_name="tiny",
        plan=replace(PLAN, epochs=1),
        folds=4,
    )
    names = {family.name for family in some_families}
    assert [len(names - each) for each in seen] == [1, 1, 1, 1, 0]
    assert set().union(*(names - each for each in seen)) == names
    lines = {line.family: line.of for line in built.cross_validated.families}
    assert lines == {family.name: len(family.lines) for family in some_families}


@pytest.mark.parametrize("most", [0.0, 0.03, 0.1])
def test_the_threshold_lets_no_more_harmless_sentences_through_than_it_may(draw, most):
    sensitive = draw.random(400) < 0.5
    scores = np.clip(draw.normal(0.4 + 0.3 * sensitive, 0.2), 0, 1)
    threshold = choose_threshold(scores, sensitive, most)
    assert (scores[~sensitive] >= threshold).mean() <= most
    lower = choose_threshold(scores, sensitive, most + 0.05)
    assert lower < threshold


def test_a_perfect_split_gets_a_threshold_between_the_two():
    threshold = choose_threshold(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]), 0.0)
    assert 0.2 < threshold < 0.8


def test_calibration_undoes_overconfidence(draw):
    truth = draw.normal(0, 2, 4000)
    sensitive = draw.random(4000) < 1 / (1 + np.exp(-truth))
    slope, shift = calibration(truth * 3 + 1, sensitive)
    assert slope == pytest.approx(1 / 3, rel=0.15)
    assert shift == pytest.approx(-1 / 3, abs=0.15)


def test_folds_that_cannot_be_are_refused(tiny_encoder, some_families):
    with pytest.raises(InputError, match="between 2 and"):
        train_head(some_families, tiny_encoder, encoder_name="tiny", folds=9)
