"""The STOP attack tells the worlds apart on paper SubMix and fails on Strict."""

import pytest

from core.attack.audits.audit import Counts, most_advantage, renyi_bound
from core.attack.audits.stop import ALPHA, EPSILON, Stopped, StopProtocol, _advantage, stop_attack
from core.attack.conduct import conduct
from core.attack.experiments import verdicts
from core.attack.experiments.protocols import prepare_stop
from core.errors import InputError

GAMES = 100  # a right build fails here less than once in 10^6 runs; nothing is seeded, for nothing can be


def test_the_silence_of_submix_tells_two_worlds_apart_and_strict_keeps_within_epsilon():
    submix = stop_attack("submix", games=GAMES)
    assert submix.told_apart
    assert submix.bound > EPSILON
    assert submix.advantage.low > submix.allowed
    strict = stop_attack("strict", games=GAMES)
    assert not strict.told_apart
    assert strict.advantage.value < strict.allowed


def test_the_run_says_which_protocol_gave_way(settings):
    run = conduct(settings, prepare_stop(games=12))
    *_, first, second = run.outcome.verdict
    assert first.startswith("On SubMix as the paper has it")
    assert second.startswith("On Strict")
    assert "16.14" in run.outcome.notes[0]


def played(protocol: StopProtocol, hits_with: int, hits_without: int, games: int) -> Stopped:
    counts = Counts(hits_with, games, hits_without, games)
    bound = renyi_bound(counts, ALPHA)
    return Stopped(protocol, counts, _advantage(counts, 0.95), most_advantage(ALPHA, EPSILON), bound)


def test_few_games_are_not_called_a_failed_attack():
    (few,) = verdicts.stopped([played("submix", 12, 1, 12)])
    assert few.endswith("play more.")
    (few,) = verdicts.stopped([played("strict", 12, 1, 12)])
    assert few.endswith("play more.")


def test_the_verdict_begins_in_plain_words_and_goes_on_with_the_counts():
    submix, strict = played("submix", 97, 6, 100), played("strict", 45, 31, 100)
    plain, many, none = verdicts.stopped([submix, strict])
    assert plain.startswith("SubMix as the paper has it gives a part away by falling silent")
    assert plain.endswith("On Strict the same attack fails.")
    assert "a divergence of at least 2.20" in many
    assert none.endswith("The attack fails.")
    assert verdicts.stopped([submix])[0].endswith("calls alike.")


def test_other_protocols_have_no_stop_to_look_at():
    with pytest.raises(InputError):
        stop_attack("pmixed")  # type: ignore[arg-type]
