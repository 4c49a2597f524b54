"""Estimates are made of trials on this machine: more work takes longer, and a trial is not made twice."""

from dataclasses import replace

import pytest

from core.attack.attackers import tokens_only
from core.attack.experiments import pace
from core.attack.experiments.codes import CodePlan, prepare_codes
from core.attack.experiments.pace import pace_before_training, training_seconds
from core.attack.experiments.trained import Split
from core.attack.ranking.remembered import RememberingDecoder
from core.attack.targets import target_of
from core.lm.finetune import AdapterData
from core.predict import Decoding
from tests.core.attack.notes import MEMORISING


def lesson(documents: int) -> list[AdapterData]:
    return [AdapterData("part-01", [[1] * 11] * documents), AdapterData("part-02", [[1] * 11])]


@pytest.fixture(autouse=True)
def no_trial_is_known(monkeypatch):
    monkeypatch.setattr(pace, "_known", {})


def test_training_is_timed_by_the_positions_that_are_run(tiny):
    once = training_seconds(tiny, lesson(8), MEMORISING)
    assert once > 0.0
    twice = training_seconds(tiny, lesson(8), replace(MEMORISING, passes=2 * MEMORISING.passes))
    assert 1.8 * once < twice < 2.0 * once  # what the layers below read, they read once
    # Rows of one batch wait for the longest of them; apart they do not.
    apart = [replace(entry, batch=4 - number) for number, entry in enumerate(lesson(8))]
    assert training_seconds(tiny, apart, MEMORISING) < once


def test_no_part_waits_for_the_whole(tiny):
    """Two parts and a whole as long as both: apart it takes two thirds of the time."""
    data = [
        *(AdapterData(f"part-{n}", [[1] * 11] * 8) for n in (1, 2)),
        AdapterData("whole", [[1] * 11] * 16),
    ]
    split = Split(parts=2)
    together = training_seconds(tiny, data, MEMORISING)
    apart = training_seconds(tiny, data, split.trained(MEMORISING))
    assert apart == pytest.approx(2 / 3 * together, rel=0.05)
    assert Split(parts=3, halves=True).trained(MEMORISING).rows_at_once == 6


def test_a_trial_is_good_for_a_while_and_then_made_again(tiny, monkeypatch):
    tried = []
    real = pace._try
    monkeypatch.setattr(pace, "_try", lambda branches: tried.append(1) or real(branches))
    first = pace_before_training(tiny, MEMORISING.shape, 2)
    assert pace_before_training(tiny, MEMORISING.shape, 2) is first
    assert len(tried) == 1
    pace_before_training(tiny, MEMORISING.shape, 3)
    assert len(tried) == 2
    monkeypatch.setattr(pace, "_GOOD_FOR", -1.0)
    pace_before_training(tiny, MEMORISING.shape, 2)
    assert len(tried) == 3


def test_the_figure_takes_longer_with_more_answers_and_with_more_training(tiny, settings):
    def seconds(**changes):
        plan = CodePlan(lengths=(2,), epsilons=(2.0,), training=MEMORISING, **changes)
        return prepare_codes(tiny, limits=settings, seed=0, plan=plan).steps

    few, many = seconds(generations=10), seconds(generations=1000)
    assert few[0].work == many[0].work  # the training
    assert sum(step.work for step in many[1:]) > 10 * sum(step.work for step in few[1:])


def test_what_one_attacker_has_read_the_next_over_the_same_adapters_knows(subject, settings):
    target = target_of(subject.manifest, "strict")
    decoder = RememberingDecoder(subject.public, subject.rows(target))
    sure = Decoding(top_k=1)  # one token to choose from, so that both say the same
    said, read = [], []
    for _ in range(2):
        with tokens_only(subject, target, limits=settings, decoding=sure, decoder=decoder) as attacker:
            said.append(attacker.answer("the night", length=6))
            read.append(decoder.read)
            assert attacker.used > 0  # the account is the attacker's own
    assert said[0] == said[1]
    assert read[0] == read[1] > 0
