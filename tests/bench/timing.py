"""Timing several ways of doing the same thing in turns, so that a busy machine slows all of them alike."""

import json
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter


def in_turns(
    ways: Mapping[str, Callable[[], object]], *, rounds: int, seldom: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Median seconds of each way over `rounds` turns; a way in `seldom` runs in every n-th turn only."""
    every = dict(seldom or {})
    for way in ways.values():
        way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds):
        for name, way in ways.items():
            if turn % every.get(name, 1) == 0:
                start = perf_counter()
                way()
                times[name].append(perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def report(bench: str, seconds: Mapping[str, float], ratios: Mapping[str, float], **extra: object) -> None:
    """A small table, and last one line of JSON."""
    for name, value in seconds.items():
        print(f"  {name:<34} {value * 1e3:10.1f} ms")
    for name, ratio in ratios.items():
        print(f"  {name:<34} {ratio:10.2f} x")
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    print(json.dumps({"bench": bench, "ratios": rounded, **extra}))
