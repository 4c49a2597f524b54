"""The models' turns go round in the order of asking."""

import threading
import time

import pytest

from core.turns import Turns


def test_one_at_a_time():
    turns, inside, most = Turns(), 0, 0

    def work():
        nonlocal inside, most
        for _ in range(50):
            with turns:
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_who_has_just_had_a_turn_goes_to_the_end_of_the_line():
    turns, order = Turns(), []
    waiting = threading.Barrier(4)

    def work(name):
        waiting.wait()
        for _ in range(5):
            with turns:
                order.append(name)
                while len(turns._line) < 3 and len(order) < 10:  # until the others stand in line
                    time.sleep(0.001)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = order[:4], order[4:8]
    assert sorted(first) == ["a", "b", "c", "d"]
    assert first == second


def test_an_error_inside_hands_the_turn_on():
    turns = Turns()
    with pytest.raises(ValueError, match="inside"), turns:
        raise ValueError("inside")
    with turns:
        pass
