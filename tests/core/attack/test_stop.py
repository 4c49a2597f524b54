"""The STOP attack tells the worlds apart on paper SubMix and fails on Strict."""

import pytest

from core.attack import verdicts
from core.attack.audit import Counts, most_advantage, renyi_bound
from core.attack.conduct import conduct
from core.attack.protocol_runs import prepare_stop
from core.attack.stop import ALPHA, EPSILON, Stopped, StopProtocol, _advantage, stop_attack
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
    first, second = run.outcome.verdict
    assert first.startswith("On SubMix as the paper has it")
    assert second.startswith("On Strict")
    assert "16.14" in run.outcome.notes[0]


def played(protocol: StopProtocol, hits_with: int, hits_without: int, games: int) -> Stopped:
    counts = Counts(hits_with, games, hits_without, games)
    bound = renyi_bound(counts, ALPHA)
    return Stopped(protocol, counts, _advantage(counts, 0.95), most_advantage(ALPHA, EPSILON), bound)


def test_few_games_are_not_called_a_failed_attack():
    few, many, none = verdicts.stopped(
        [played("submix", 12, 1, 12), played("submix", 97, 6, 100), played("strict", 45, 31, 100)]
    )
    assert few.endswith("play more.")
    assert "a divergence of at least 2.20" in many
    assert none.endswith("The attack fails.")


def test_other_protocols_have_no_stop_to_look_at():
    with pytest.raises(InputError):
        stop_attack("pmixed")  # type: ignore[arg-type]
