"""Canary exposure (Carlini et al. 2019): log2 |R| - log2 rank, by total log-likelihood after the prefix.

The rank counts every candidate that is at least as likely as the canary, itself included, so ties count
against memorisation. A canary that was not memorised has a uniform rank and an exposure of 1 / ln 2 = 1.44
bits on average, not 0; one that was memorised has log2 |R|.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.attack import intervals
from core.attack.intervals import Interval
from core.attack.ranking.listing import enumerate_all, score_listed
from core.attack.ranking.reader import Reader
from core.attack.ranking.search import TIE, Rank, best_first, log_likelihood
from core.attack.ranking.spelling import Spelling, Tokens
from core.attack.watch import SILENT, Watch
from core.privacy.renyi import Floats

BASELINE = 1.0 / math.log(2.0)  # bits, of a canary that nobody memorised
Method = Literal["search", "enumeration", "sample"]


@dataclass(frozen=True)
class Effort:
    """How much may be read for one canary: model tokens in the search, candidates in a sample."""

    most_read: int = 2_000
    most_enumerated: int = 20_000  # nodes of a space that is small enough to be read whole
    references: int = 200


SMALL = Effort(most_read=120, most_enumerated=120, references=60)  # for a run that should end in a minute


@dataclass(frozen=True)
class Extrapolated:
    """The exposure by a skew-normal law fitted to sampled references: an extrapolation, not a measurement.

    `fit` is the p-value of a Kolmogorov-Smirnov test of the fit; near 0 the law is not skew-normal.
    """

    bits: float
    fit: float


@dataclass(frozen=True)
class Exposure:
    """One canary's exposure in bits. Exact where low = high; otherwise the interval covers 95 %."""

    bits: float
    low: float
    high: float
    candidates: int
    method: Method
    log_likelihood: float
    read: int
    rank: int | None = None
    extrapolated: Extrapolated | None = None

    @property
    def most(self) -> float:
        """The exposure of a canary that is likelier than all others."""
        return math.log2(self.candidates)


def exposure(
    reader: Reader,
    spelling: Spelling,
    canary: Tokens,
    *,
    rng: np.random.Generator,
    effort: Effort | None = None,
    watch: Watch = SILENT,
) -> Exposure:
    """Exact by best-first search or by enumeration where that is cheap, by a sample otherwise.

    A canary of chance p has at most 1/p candidates above it at every depth, so the search is known to be
    cheap before it begins. Where it is not, but no sampled candidate is above the canary, it is tried.
    """
    effort, begun = effort or Effort(), reader.read
    own = log_likelihood(reader, spelling.prompt, canary)
    needed = len(canary) * math.exp(min(-own, 50.0)) + 2 * len(spelling.prompt)
    if needed <= min(effort.most_read, spelling.nodes):
        return _of_rank(
            best_first(reader, spelling, canary, most_read=2 * effort.most_read, watch=watch), "search"
        )
    if spelling.nodes <= effort.most_enumerated:
        return by_enumeration(reader, spelling, [canary], watch=watch)[0]
    sampled = _sampled(reader, spelling, canary, own, rng, effort.references, watch.part(0.0, 0.5))
    if not sampled.above:
        rank = best_first(reader, spelling, canary, most_read=effort.most_read, watch=watch.part(0.5, 1.0))
        return _of_rank(rank, "search") if rank.exact else _estimated(sampled, rank)
    return _estimated(sampled, Rank(1, spelling.candidates, spelling.candidates, own, reader.read - begun))


def by_enumeration(
    reader: Reader, spelling: Spelling, canaries: Sequence[Tokens], *, watch: Watch = SILENT
) -> list[Exposure]:
    """The exposures of canaries that share one prompt, from one reading of all candidates."""
    begun = reader.read
    scores = dict(enumerate_all(reader, spelling, watch=watch))
    values = np.sort(np.fromiter(scores.values(), np.float64))
    found = []
    for canary in canaries:
        own = scores[canary]
        rank = int(values.size - np.searchsorted(values, own - TIE, "left"))
        known = Rank(rank, rank, values.size, own, reader.read - begun)
        found.append(_of_rank(known, "enumeration"))
    return found


def summary(
    exposures: Sequence[Exposure], rng: np.random.Generator, *, least: float = 0.0
) -> tuple[Interval, Interval]:
    """The mean exposure of many canaries, and the share of them that nothing is likelier than."""
    most = max(each.most for each in exposures)
    bits = intervals.mean([each.bits for each in exposures], rng, least=least, most=most)
    first = sum(each.rank == 1 for each in exposures)
    return bits, intervals.share(first, len(exposures))


def skew_normal(references: Floats, own: float, candidates: int) -> Extrapolated:
    """-log2 P(X >= own) for X skew-normal as the references are (Carlini et al., Section 4.3)."""
    from scipy.stats import kstest, skewnorm

    if np.ptp(references) == 0.0:
        return Extrapolated(0.0 if own <= references[0] else math.log2(candidates), 0.0)
    law = skewnorm(*skewnorm.fit(references))
    bits = -float(law.logsf(own)) / math.log(2.0)
    # No more can be told apart than there are candidates, and not less than nothing.
    return Extrapolated(min(max(bits, 0.0), math.log2(candidates)), float(kstest(references, law.cdf).pvalue))


@dataclass(frozen=True, eq=False)
class _Sample:
    """The log-likelihoods of random references, and how many of them are at least the canary's."""

    scores: Floats
    above: int


def _sampled(
    reader: Reader,
    spelling: Spelling,
    canary: Tokens,
    own: float,
    rng: np.random.Generator,
    size: int,
    watch: Watch,
) -> _Sample:
    drawn = [spelling.tokens(int(rng.integers(spelling.candidates))) for _ in range(size)]
    listed = [tokens for tokens in drawn if tokens != canary]
    scores = score_listed(reader, spelling.prompt, listed, watch=watch)
    return _Sample(scores, int((scores >= own - TIE).sum()))


def _estimated(sampled: _Sample, known: Rank) -> Exposure:
    """The share of references that are above, within the bounds on the rank that hold for certain."""
    size, candidates = sampled.scores.size, known.candidates
    share = intervals.share(sampled.above, size)

    def bits(part: float) -> float:
        rank = min(max(1.0 + part * (candidates - 1), known.low), known.high)
        return math.log2(candidates) - math.log2(rank)

    return Exposure(
        bits=bits((sampled.above + 1) / (size + 1)),  # the canary's rank among the sample and itself
        low=bits(share.high),
        high=bits(share.low),
        candidates=candidates,
        method="sample",
        log_likelihood=known.log_likelihood,
        read=known.read,
        extrapolated=skew_normal(sampled.scores, known.log_likelihood, candidates),
    )


def _of_rank(rank: Rank, method: Method) -> Exposure:
    """The exposure of a rank; of bounds on it, the exposure that is certain."""
    most = math.log2(rank.candidates)
    low, high = most - math.log2(rank.high), most - math.log2(rank.low)
    exact = rank.low if rank.exact else None
    return Exposure(low, low, high, rank.candidates, method, rank.log_likelihood, rank.read, exact)
