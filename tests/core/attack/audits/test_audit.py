"""Lower bounds on epsilon: they hold on mechanisms whose epsilon is known, and they rise on broken ones."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from core.attack.audits.audit import (
    Counts,
    Guesses,
    binary_renyi,
    chance_of_guesses,
    guess_coins,
    most_advantage,
    one_run_bound,
    renyi_bound,
)
from core.attack.audits.games import History, World, audit, best_event
from core.attack.audits.hard_worlds import EPSILON, pmixed_worlds, strict_worlds, submix_worlds
from core.errors import InputError
from core.privacy.renyi import renyi_divergence
from tests.core.predict.mutants import MUTANTS

RUNS = 1000


@pytest.mark.parametrize("alpha", [1.5, 2.0, 8.0, math.inf])
def test_the_divergence_of_two_coins_is_that_of_their_pmfs(alpha):
    for p, q in ((0.3, 0.4), (0.99, 0.01), (0.0, 0.5), (1.0, 0.2)):
        assert binary_renyi(p, q, alpha) == pytest.approx(renyi_divergence([p, 1 - p], [q, 1 - q], alpha))
    assert binary_renyi(0.5, 0.0, 2.0) == math.inf
    assert binary_renyi(0.2, 0.2, 2.0) == 0.0


@pytest.mark.parametrize(("p", "q"), [(0.6, 0.25), (0.05, 0.01), (0.3, 0.3), (0.01, 0.2)])
def test_the_renyi_bound_stays_below_the_known_divergence(p, q):
    rng = np.random.default_rng(4)
    truth = max(binary_renyi(p, q, 2.0), binary_renyi(q, p, 2.0))
    games = 300
    hits = zip(rng.binomial(games, p, RUNS), rng.binomial(games, q, RUNS), strict=True)
    bounds = np.array([renyi_bound(Counts(int(a), games, int(b), games), 2.0) for a, b in hits])
    assert (bounds <= truth + 1e-12).mean() >= 0.95
    if truth > 0.2:
        assert np.median(bounds) > 0.25 * truth


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_the_one_run_bound_covers_on_randomised_response(epsilon):
    """Each coin is told with chance e^eps / (1 + e^eps): an epsilon-DP mechanism, and the worst one."""
    rng = np.random.default_rng(9)
    canaries = 200
    right = rng.binomial(canaries, 1 / (1 + math.exp(-epsilon)), RUNS)
    bound = {v: one_run_bound(Guesses(canaries, canaries, int(v))) for v in set(right.tolist())}
    bounds = np.array([bound[int(v)] for v in right])
    assert (bounds <= epsilon + 1e-9).mean() >= 0.95 - 0.01
    if epsilon:
        assert np.median(bounds) > 0.6 * epsilon


def test_the_one_run_chance_is_the_binomial_tail_and_grows_with_delta():
    found = Guesses(100, 60, 50)
    assert chance_of_guesses(found, 1.0, 0.0) == pytest.approx(binom.sf(49, 60, math.e / (1 + math.e)))
    chances = [chance_of_guesses(found, 1.0, delta) for delta in (0.0, 1e-6, 1e-4, 1e-2)]
    assert chances == sorted(chances)
    assert one_run_bound(found, 1e-2) < one_run_bound(found, 1e-6) <= one_run_bound(found)


def test_all_of_thirty_two_right_refutes_an_epsilon_of_two():
    # q^32 = 0.05 at q = 0.9106, that is epsilon 2.32
    assert one_run_bound(Guesses(32, 32, 32)) == pytest.approx(2.32, abs=0.01)
    assert one_run_bound(Guesses(32, 32, 18)) == 0.0


def test_guesses_go_to_the_highest_and_lowest_scores():
    scores, coins = [5.0, 4.0, 0.0, -3.0, -4.0], [True, False, True, False, False]
    assert guess_coins(scores, coins, 4) == Guesses(5, 4, 3)
    with pytest.raises(InputError):
        guess_coins(scores, coins, 6)


def test_the_largest_advantage_is_on_the_border_of_epsilon():
    found = most_advantage(2.0, 1.0)
    assert found == pytest.approx(0.5482, abs=1e-3)
    assert binary_renyi(0.5 + found / 2, 0.5 - found / 2, 2.0) == pytest.approx(1.0, abs=1e-9)


def test_the_event_is_the_set_that_tells_the_worlds_apart():
    with_part: Counter[History] = Counter({(0,): 900, (1,): 90, (2,): 10})
    without: Counter[History] = Counter({(0,): 980, (1,): 10, (2,): 10})
    assert best_event(with_part, without, 2.0) == {(1,)}


def test_sound_protocols_stay_below_epsilon_in_the_hard_worlds():
    for worlds in (strict_worlds(), pmixed_worlds(), submix_worlds()):
        for played in audit(worlds, games=1500, confidence=0.9999):
            assert not played.broken, played


def test_the_audit_comes_near_epsilon_where_the_account_is_tight():
    (played,) = audit(worlds_named("a large vocabulary"), games=8000)
    assert played.bound > 0.4 * EPSILON


# A mistake of the prediction engine, the world that shows it, and as many games as show it all but surely:
# the draws are the system's own, and a bound that stays below the nominal has a chance under 1e-6.
CAUGHT = {
    "w_max not enforced": ("a part that would say it all", 10_000),
    "one-sided loss": ("a token that the part never says", 6_000),
    "the other side only": ("an outlier among parts that agree", 12_000),
    "charge after the answer": ("one answer that nobody can pay", 6_000),
    "other parts' data in a weight": ("an outlier among parts that agree", 6_000),
    "allowance without the remainder": ("more questions than planned", 40_000),
    "temperature after mixing": ("a large vocabulary", 6_000),
    "STOP forgotten": ("answers until the budget ends", 16_000),
}


def worlds_named(name):
    return [world for world in (*strict_worlds(), *submix_worlds()) if world.name == name]


@pytest.mark.parametrize("name", CAUGHT)
def test_the_bound_rises_above_the_nominal_in_a_broken_build(name, monkeypatch):
    next(mutant for mutant in MUTANTS if mutant.name == name).patch(monkeypatch)
    world, games = CAUGHT[name]
    (played,) = audit(worlds_named(world), games=games, confidence=0.99)
    assert played.broken, played


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CAUGHT, "kappa of others who never mix", "len(vocab) for k"])
def test_the_whole_audit_catches_the_mutant(name, monkeypatch):
    next(mutant for mutant in MUTANTS if mutant.name == name).patch(monkeypatch)
    played = audit([*strict_worlds(), *submix_worlds()], games=30_000, confidence=0.999)
    assert any(each.broken for each in played), [(each.world, round(each.bound, 2)) for each in played]


class Coin:
    """A world of one token that is 1 with this chance, and a mechanism that knows its own divergence."""

    alpha = 2.0
    epsilon = binary_renyi(0.7, 0.3, 2.0)

    def __init__(self, chance, rng):
        self.chance, self.rng, self.protocol = chance, rng, self

    def play(self, steps):
        return (int(self.rng.random() < self.chance),)


def test_the_audit_by_games_covers_on_a_mechanism_of_known_epsilon():
    """Also with the event chosen from games: at most one run in twenty may call a sound mechanism broken."""
    rng = random.Random(2)
    world = World("a coin", Coin(0.7, rng), Coin(0.3, rng), 1)  # type: ignore[arg-type]
    played = [audit([world], games=400)[0] for _ in range(RUNS)]
    assert np.mean([each.broken for each in played]) <= 0.05
    assert np.median([each.bound for each in played]) > 0.5 * Coin.epsilon
    leaky = World("a leaky coin", Coin(0.9, rng), Coin(0.1, rng), 1)  # type: ignore[arg-type]
    assert all(audit([leaky], games=400)[0].broken for _ in range(20))


def test_an_audit_needs_games_and_worlds():
    with pytest.raises(InputError):
        audit(strict_worlds(), games=3)
    with pytest.raises(InputError):
        audit((), games=100)
