"""Lower bounds on epsilon from what attackers achieved, to be held against the proved upper one.

Two ways, each with its own currency:

- repeated games give counts in two worlds, and by data processing the Renyi divergence of the binary outcome
  is at most that of everything released (`renyi_bound`);
- one run with many canaries, each included by a fair coin, bounds (epsilon, delta) by how many coins are
  guessed (`one_run_bound`; Steinke, Nasr and Jagielski 2023).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.attack.intervals import CONFIDENCE, lower_limit, upper_limit
from core.errors import InputError
from core.privacy.renyi import check_order

_LARGEST = 60.0  # no count of guesses can show more


@dataclass(frozen=True)
class Counts:
    """How often an event was seen in the world with the secret, and in the world without it."""

    hits_with: int
    games_with: int
    hits_without: int
    games_without: int


def binary_renyi(p: float, q: float, alpha: float) -> float:
    """D_alpha of a coin of chance p from a coin of chance q."""
    alpha = check_order(alpha)
    if p == q:
        return 0.0
    if (q == 0.0 and p > 0.0) or (q == 1.0 and p < 1.0):
        return math.inf
    pairs = [(a, b) for a, b in ((p, q), (1.0 - p, 1.0 - q)) if a > 0.0]
    if math.isinf(alpha):
        return max(math.log(a / b) for a, b in pairs)
    logs = [alpha * math.log(a) - (alpha - 1.0) * math.log(b) for a, b in pairs]
    top = max(logs)
    return max(0.0, (top + math.log(sum(math.exp(x - top) for x in logs))) / (alpha - 1.0))


def renyi_bound(counts: Counts, alpha: float, confidence: float = CONFIDENCE) -> float:
    """A lower bound, in nats, on the larger of the two Renyi divergences between the worlds.

    Both chances lie in their one-sided Clopper-Pearson limits at once with the stated confidence (half of
    the error each). The divergence of two coins grows as the chances move apart, so within these limits it
    is smallest at the corner where they are nearest; where they overlap the bound is 0. Which world has the
    larger chance may be read off the counts: if it was the wrong one, one of the two limits has failed.
    """
    with_share = counts.hits_with / counts.games_with
    without_share = counts.hits_without / counts.games_without
    error = 0.5 * (1.0 - confidence)
    if with_share >= without_share:
        p = lower_limit(counts.hits_with, counts.games_with, error)
        q = upper_limit(counts.hits_without, counts.games_without, error)
    else:
        p = upper_limit(counts.hits_with, counts.games_with, error)
        q = lower_limit(counts.hits_without, counts.games_without, error)
    if (p - q) * (with_share - without_share) <= 0.0:
        return 0.0
    return max(binary_renyi(p, q, alpha), binary_renyi(q, p, alpha))


def most_advantage(alpha: float, epsilon: float) -> float:
    """The largest difference of two coins' chances that (alpha, epsilon) allows, in both directions.

    By symmetry it is reached at chances 1/2 +- advantage/2.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        near = binary_renyi(0.5 + 0.5 * middle, 0.5 - 0.5 * middle, alpha) <= epsilon
        low, high = (middle, high) if near else (low, middle)
    return low


@dataclass(frozen=True)
class Guesses:
    """Of `canaries` coins, `guesses` were guessed and the rest left out; `correct` of them rightly."""

    canaries: int
    guesses: int
    correct: int


def guess_coins(scores: Sequence[float], included: Sequence[bool], guesses: int) -> Guesses:
    """Guess "in" for the highest scores and "out" for the lowest, half of the guesses each."""
    if len(scores) != len(included) or not 2 <= guesses <= len(scores):
        raise InputError("There must be a score for each canary, and two guesses at least.")
    order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
    half = guesses // 2
    coins = np.asarray(included, bool)[order]
    correct = int(coins[:half].sum() + (~coins[len(coins) - half :]).sum())
    return Guesses(len(scores), 2 * half, correct)


def one_run_bound(found: Guesses, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """The largest epsilon that is refuted at this confidence; 0 where chance explains the guesses.

    The number of guesses must have been chosen before the coins were looked at.
    """
    if not (0 <= found.correct <= found.guesses <= found.canaries and found.canaries >= 1):
        raise InputError("There cannot be more right guesses than guesses, nor more guesses than canaries.")
    if not 0.0 <= delta < 1.0:
        raise InputError("Delta must be at least 0 and below 1.")
    error = 1.0 - confidence
    if chance_of_guesses(found, 0.0, delta) >= error:
        return 0.0
    low, high = 0.0, _LARGEST
    for _ in range(60):
        middle = 0.5 * (low + high)
        refuted = chance_of_guesses(found, middle, delta) < error
        low, high = (middle, high) if refuted else (low, middle)
    return low


def chance_of_guesses(found: Guesses, epsilon: float, delta: float) -> float:
    """How likely so many right guesses are, at most, under (epsilon, delta)-DP (their Theorem 5.2).

    With f(v) = P(Binomial(r, e^eps / (1 + e^eps)) >= v) it is f(v) + 2 m delta max_i (f(v - i) - f(v)) / i.
    """
    from scipy.stats import binom

    right = 1.0 / (1.0 + math.exp(-epsilon))
    tail = float(binom.sf(found.correct - 1, found.guesses, right))
    if delta == 0.0 or found.correct == 0:
        return tail
    steps = np.arange(1, found.correct + 1)
    rises = (binom.sf(found.correct - steps - 1, found.guesses, right) - tail) / steps
    return min(1.0, tail + 2.0 * found.canaries * delta * max(0.0, float(rises.max())))
