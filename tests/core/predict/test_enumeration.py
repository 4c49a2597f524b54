"""The test that decides: every transcript, both worlds, both directions, the real protocol."""

import math

import numpy as np
import pytest

from core.predict import PMixED, StrictSubMix, SubMix
from core.predict.strict import ALLOWANCES
from tests.core.predict.worlds import KINDS, History, World, divergence, transcripts, worst

TOLERANCE = 1e-9
ORDERS = (1.5, 2.0, 4.0, 8.0)


def strict_case(number: int) -> tuple[StrictSubMix, World, int]:
    """One of endlessly many settings: every choice below varies with the number."""
    generator = np.random.default_rng(number)
    vocabulary = 2 + number % 2
    steps = int(generator.integers(2, 6 if vocabulary == 2 else 4))
    world = World(int(generator.integers(2, 5)), vocabulary, number, list(KINDS)[number % len(KINDS)])
    protocol = StrictSubMix(
        world.parts,
        epsilon=float(generator.choice([0.05, 0.5, 1.0, 3.0])),
        alpha=ORDERS[number // 2 % 4],
        queries=int(generator.integers(1, steps + 2)),
        w_max=float(generator.choice([0.3, 0.5, 0.9, 0.99])),
        allowance=ALLOWANCES[number // 8 % 3],
    )
    return protocol, world, steps


def check_strict(numbers) -> float:
    """Assert the theorem on each case; the largest share of epsilon that was truly used."""
    largest = 0.0
    for number in numbers:
        protocol, world, steps = strict_case(number)
        everyone = number % 6 == 0
        how = "fault" if number % 5 == 0 else "public"
        found = worst(protocol, world, steps, None if everyone else [0, world.parts - 1], how)
        assert found <= protocol.epsilon + TOLERANCE, (number, found, protocol.epsilon)
        largest = max(largest, found / protocol.epsilon)
    return largest


def test_strict_never_exceeds_epsilon_on_any_transcript():
    assert check_strict(range(600)) > 0.9  # the worlds are hard enough to come near


@pytest.mark.slow
def test_strict_never_exceeds_epsilon_on_many_more_worlds():
    check_strict(range(600, 8000))


@pytest.mark.parametrize("allowance", ALLOWANCES)
@pytest.mark.parametrize("alpha", ORDERS)
def test_strict_never_exceeds_epsilon_over_six_steps(alpha, allowance):
    for kind in KINDS:
        world = World(3, 2, 11, kind)
        protocol = StrictSubMix(3, 1.0, alpha, 6, w_max=0.9, allowance=allowance)
        assert worst(protocol, world, 6, parts=[0]) <= 1.0 + TOLERANCE


def test_strict_never_exceeds_epsilon_at_order_infinity():
    for number in range(20):
        world = World(3, 2, number, list(KINDS)[number % len(KINDS)])
        protocol = StrictSubMix(3, 1.0, math.inf, 3, w_max=0.9)
        assert worst(protocol, world, 4, parts=[0]) <= 1.0 + TOLERANCE


def test_strict_never_exceeds_what_a_ledger_had_left():
    for number in range(20):
        world = World(3, 2, number, list(KINDS)[number % len(KINDS)])
        protocol = StrictSubMix(3, 2.0, 2.0, 8, remaining=[0.3, 2.0, 0.0], used=5)
        full, spent = transcripts(protocol, world.rows, 4)
        rest, _ = transcripts(protocol, world.rows, 4, without=0)
        assert max(divergence(full, rest, 2.0), divergence(rest, full, 2.0)) <= 0.3 + TOLERANCE
        assert spent[2] == 0.0


def test_strict_comes_close_to_its_bound_when_the_others_leave_the_least():
    table = np.array([[0.05, 0.05, 0.9], [0.97, 0.02, 0.01], *[[0.0, 0.0, 1.0]] * 3])
    protocol = StrictSubMix(4, 1.0, 2.0, 3, w_max=0.9, allowance="even")
    world = World(4, 3, 0, always=table)
    assert 0.9 < worst(protocol, world, 3, parts=[0]) <= 1.0 + TOLERANCE


def test_pmixed_never_exceeds_epsilon_on_any_transcript():
    for number in range(40):
        generator = np.random.default_rng(number)
        world = World(int(generator.integers(2, 5)), 2 + number % 2, number, list(KINDS)[number % len(KINDS)])
        protocol = PMixED(world.parts, float(generator.choice([0.1, 1.0])), ORDERS[number % 4], 3)
        assert worst(protocol, world, 4 if world.vocabulary == 2 else 3) <= protocol.epsilon + TOLERANCE


PUBLIC = np.array([0.99, 0.01])
PARTS = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])


def counter_example(steps=6):
    """The laws of SubMix with all three parts, and without the first (Algorithm 2 on the other two)."""

    def law(parts):
        found = {}

        def walk(state, history, chance):
            if len(history) == steps:
                found[history] = chance
                return
            mine = state.copy()
            pmf = mine.step(PUBLIC, np.repeat(parts[:, None, :], 2, axis=1)).pmf
            for token in (0, 1):
                walk(mine, (*history, token), chance * pmf[token])

        walk(SubMix(len(parts), 1.0, 2.0, 6), (), 1.0)
        return found

    return law(PARTS), law(PARTS[1:])


def test_the_papers_rule_exceeds_epsilon_sixteen_times():
    full, rest = counter_example()
    assert divergence(full, rest, 2.0) == pytest.approx(16.14, abs=0.005)
    protocol = SubMix(3, 1.0, 2.0, 6)
    step = protocol.step(PUBLIC, np.repeat(PARTS[:, None, :], 2, axis=1))
    assert step.losses[0] < 2e-9  # by its own account the first part pays nothing


def test_strict_stays_within_epsilon_on_the_counter_example():
    world = World(3, 2, 0, always=np.vstack([PUBLIC[None], PARTS]))
    for allowance in ALLOWANCES:
        assert worst(StrictSubMix(3, 1.0, 2.0, 6, allowance=allowance), world, 6) <= 1.0 + TOLERANCE


@pytest.mark.parametrize("expansion", [1, 10, 100])
def test_random_stopping_does_not_repair_it(expansion):
    """Appendix C.4 promises epsilon + log(C B): terminate before a response drawn uniformly from 1..CB."""
    steps = 6
    horizon = expansion * steps

    def covered(law_upto):
        mixed: dict[History, float] = {}
        for last in range(1, horizon + 1):
            for tokens, chance in law_upto[min(last - 1, steps)].items():
                mixed[tokens] = mixed.get(tokens, 0.0) + chance / horizon
        return mixed

    def cut(which):
        """For every cut, the protocol's tokens before it and the public model's after it."""
        laws = {}
        for before in range(steps + 1):
            law: dict[History, float] = {(): 1.0}
            if before:
                law = counter_example(before)[which]
            for _ in range(before, steps):
                law = {(*h, t): p * PUBLIC[t] for h, p in law.items() for t in (0, 1)}
            laws[before] = law
        return laws

    with_part, without = covered(cut(0)), covered(cut(1))
    found = divergence(with_part, without, 2.0)
    assert found > 1.0 + math.log(horizon) + 4.0
