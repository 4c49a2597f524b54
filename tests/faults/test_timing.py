"""Time tells nothing: a step of Strict takes as long with an exhausted part as without one."""

import time

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from core.predict import StrictSubMix

PARTS, VOCABULARY, SAMPLES = 8, 49_152, 2_000


def world(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A public pmf and parts near it, at the vocabulary of the embedded model."""
    logits = rng.normal(size=VOCABULARY) * 3.0
    rows = np.exp(logits + rng.normal(size=(PARTS + 1, VOCABULARY)) * 0.3)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows[0], rows[1:]


def seconds(remaining: list[float], public: np.ndarray, parts: np.ndarray) -> float:
    protocol = StrictSubMix(PARTS, epsilon=2.0, alpha=2.0, queries=1024, remaining=remaining)
    begun = time.perf_counter()
    protocol.step(public, parts)
    return time.perf_counter() - begun


@pytest.mark.slow
def test_an_exhausted_part_cannot_be_told_by_the_time_of_an_answer(capsys):
    rng = np.random.default_rng(0)
    worlds = [world(rng) for _ in range(8)]
    full, exhausted = [2.0] * PARTS, [0.0] + [2.0] * (PARTS - 1)
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(SAMPLES):
        public, parts = worlds[number % len(worlds)]
        for empty in rng.permutation([True, False]):  # the two take turns, so that drift hits both
            times[bool(empty)].append(seconds(exhausted if empty else full, public, parts))
    statistic = mannwhitneyu(times[True], times[False]).statistic
    auc = max(statistic, SAMPLES**2 - statistic) / SAMPLES**2
    with capsys.disabled():
        print(f"\n  AUC of telling an exhausted part by time, {SAMPLES:,} samples each: {auc:.3f}")
    assert auc <= 0.55
