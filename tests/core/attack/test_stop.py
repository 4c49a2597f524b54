"""The STOP attack tells the worlds apart on paper SubMix and fails on Strict."""

import pytest

from core.attack.conduct import conduct
from core.attack.protocol_runs import prepare_stop
from core.attack.stop import EPSILON, stop_attack
from core.errors import InputError


def test_the_silence_of_submix_tells_two_worlds_apart_and_strict_keeps_within_epsilon(settings):
    submix = stop_attack("submix", games=40, confidence=0.99)
    assert submix.told_apart
    assert submix.bound > EPSILON
    assert submix.advantage.low > submix.allowed
    strict = stop_attack("strict", games=40, confidence=0.99)
    assert not strict.told_apart
    assert strict.advantage.value < submix.advantage.value / 2
    assert strict.advantage.low < strict.allowed


def test_the_run_says_which_protocol_gave_way(settings):
    run = conduct(settings, prepare_stop(games=12))
    first, second = run.outcome.verdict
    assert first.startswith("On SubMix as the paper has it")
    assert second.startswith("On Strict")
    assert "16.14" in run.outcome.notes[0]


def test_other_protocols_have_no_stop_to_look_at():
    with pytest.raises(InputError):
        stop_attack("pmixed")  # type: ignore[arg-type]
