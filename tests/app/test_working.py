"""Work in a thread: it tells how far it is, stops when it should, and hands its errors over."""

import threading

import pytest

from app.components.working import Working
from core.errors import InputError


def test_progress_comes_as_it_goes_and_the_result_at_the_end():
    step = threading.Event()

    def work(progress, cancelled):
        progress(1)
        step.wait(100)
        return "done"

    running = Working(work, threading.Event())
    seen = []
    for told in running:
        seen.append(told)
        step.set()
    assert seen == [1]
    assert running.result == "done"


def test_whoever_stops_looking_stops_the_work():
    stopped = threading.Event()

    def work(progress, cancelled):
        progress(1)
        while not cancelled():
            stopped.wait(0.01)
        stopped.set()

    for _ in Working(work, threading.Event()):
        break
    assert stopped.wait(100)


def test_an_error_is_raised_where_the_result_is_asked_for():
    def work(progress, cancelled):
        raise InputError("A sentence.")

    running = Working(work, threading.Event())
    assert list(running) == []
    with pytest.raises(InputError, match="A sentence"):
        _ = running.result
