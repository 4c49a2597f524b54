"""Exposure on table models, where every rank is known."""

import math
from functools import cache

import numpy as np
import pytest

from core.attack.ranking.exposure import BASELINE, Effort, by_enumeration, exposure, skew_normal, summary
from core.attack.ranking.listing import enumerate_all, score_listed
from core.attack.ranking.search import TIE, best_first, log_likelihood
from core.attack.ranking.spelling import Spelling
from core.attack.watch import AttackCancelled, Watch
from tests.core.attack.tables import TableReader, random_law

DIGITS = tuple((digit,) for digit in range(10))
CODES = Spelling((11, 10), (DIGITS,) * 3)  # a prompt of two tokens, three digits
UNEVEN = Spelling((11,), (((0,), (0, 1), (2, 3, 4)), ((5,), (6, 7)), ((8,), (8, 9))))
RNG = np.random.default_rng(0)


def reader(seed=0, sharpness=1.0):
    return TableReader(random_law(12, seed, sharpness))


def ranks(spelling, seed, sharpness):
    """Every candidate's log-likelihood and rank, straight from the table."""
    law = random_law(12, seed, sharpness)
    scores = {}
    for index in range(spelling.candidates):
        tokens, history, total = spelling.tokens(index), spelling.prompt, 0.0
        for token in tokens:
            total += math.log(law(history)[token])
            history = (*history, token)
        scores[tokens] = total
    values = np.array(list(scores.values()))
    return scores, {tokens: int((values >= score - TIE).sum()) for tokens, score in scores.items()}


@pytest.mark.parametrize("spelling", [CODES, UNEVEN], ids=["codes", "uneven"])
def test_enumeration_gives_every_candidate_its_own_likelihood_and_reads_each_node_once(spelling):
    scores, _ = ranks(spelling, 3, 1.0)
    model = reader(3)
    found = dict(enumerate_all(model, spelling, batch=7))
    assert found.keys() == scores.keys()
    assert all(found[tokens] == pytest.approx(scores[tokens]) for tokens in scores)
    # The root is read with the prompt; every other node is one token.
    assert model.read == len(spelling.prompt) + spelling.nodes - 1


@pytest.mark.parametrize("sharpness", [1.0, 6.0])
@pytest.mark.parametrize("spelling", [CODES, UNEVEN], ids=["codes", "uneven"])
def test_best_first_finds_the_exact_rank_of_every_candidate(spelling, sharpness):
    for seed in range(3):
        _, wanted = ranks(spelling, seed, sharpness)
        for tokens in list(wanted)[:: max(1, len(wanted) // 12)]:
            found = best_first(reader(seed, sharpness), spelling, tokens, most_read=10**6, batch=5)
            assert found.exact
            assert found.low == wanted[tokens]


@pytest.mark.parametrize("sharpness", [1.0, 6.0])
@pytest.mark.parametrize("spelling", [CODES, UNEVEN], ids=["codes", "uneven"])
def test_enumeration_gives_every_candidate_the_exposure_of_its_rank_and_best_first_the_same(
    spelling, sharpness
):
    _, wanted = ranks(spelling, 1, sharpness)
    some = list(wanted)[:: max(1, len(wanted) // 20)]
    listed = by_enumeration(reader(1, sharpness), spelling, some)
    for tokens, found in zip(some, listed, strict=True):
        assert found.rank == wanted[tokens]
        assert found.bits == math.log2(spelling.candidates) - math.log2(wanted[tokens])
        searched = best_first(reader(1, sharpness), spelling, tokens, most_read=10**6)
        assert (searched.low, searched.high) == (found.rank, found.rank)


def test_a_search_that_is_cut_short_still_bounds_the_rank():
    for seed in range(4):
        _, wanted = ranks(CODES, seed, 3.0)
        for tokens in list(wanted)[::97]:
            for most_read in (5, 15, 40, 120):
                found = best_first(reader(seed, 3.0), CODES, tokens, most_read=most_read, batch=4)
                assert found.low <= wanted[tokens] <= found.high


def test_listed_candidates_are_scored_as_the_table_says():
    scores, _ = ranks(UNEVEN, 5, 1.0)
    listed = list(scores)
    found = score_listed(reader(5), UNEVEN.prompt, listed, batch=2)
    assert found == pytest.approx([scores[tokens] for tokens in listed])
    assert log_likelihood(reader(5), UNEVEN.prompt, listed[3]) == pytest.approx(scores[listed[3]])


def memorising(code, chance=0.9):
    """A model that says one code with this chance at every digit, and the rest evenly."""

    def law(history):
        place = len(history) - 2
        spread = np.full(12, (1.0 - chance) / 11)
        spread[code[place] if history[2:] == code[:place] and place < 3 else 11] = chance
        return spread

    return TableReader(law)


def test_a_memorised_canary_has_the_exposure_of_the_whole_space_and_costs_little():
    code = (4, 0, 7)
    model = memorising(code)
    found = exposure(model, CODES, code, rng=RNG)
    assert found.rank == 1
    assert found.bits == found.low == found.high == math.log2(1000)
    assert found.method == "search"
    assert model.read < 20


def test_ties_put_the_other_candidates_first():
    """A model that knows nothing ranks every canary last: the exposure is 0, not 1.44."""
    found = exposure(TableReader(lambda history: np.full(12, 1 / 12)), CODES, (1, 2, 3), rng=RNG)
    assert found.rank == 1000
    assert found.bits == 0.0


def test_random_canaries_average_1_44_bits_within_the_interval():
    rng = np.random.default_rng(2)
    found = []
    for seed in range(60):
        canary = CODES.tokens(int(rng.integers(1000)))
        found += by_enumeration(reader(seed), CODES, [canary])
    bits, first = summary(found, rng)
    assert bits.low <= BASELINE <= bits.high
    assert bits.high - bits.low < 1.2
    assert first.low == 0.0 or first.value < 0.1


def test_a_sample_covers_the_exact_exposure_and_is_marked_as_one():
    effort = Effort(most_read=30, most_enumerated=10, references=80)
    rng, covered = np.random.default_rng(8), 0
    for seed in range(10):
        _, wanted = ranks(CODES, seed, 1.0)
        model = TableReader(cache(random_law(12, seed)))
        for number in rng.choice(1000, 100, replace=False):
            tokens = CODES.tokens(int(number))
            exact = math.log2(1000) - math.log2(wanted[tokens])
            found = exposure(model, CODES, tokens, rng=rng, effort=effort)
            assert found.method == "sample"
            assert found.rank is None
            covered += found.low - 1e-9 <= exact <= found.high + 1e-9
    assert covered >= 0.93 * 1000


def test_the_skew_normal_extrapolation_is_near_on_a_law_that_is_skew_normal():
    from scipy.stats import skewnorm

    law = skewnorm(3.0, loc=-20.0, scale=4.0)
    references = law.rvs(400, random_state=np.random.default_rng(1))
    for point in (-14.0, -10.0, -5.0):
        exact = -law.logsf(point) / math.log(2)
        assert skew_normal(references, point, 10**9).bits == pytest.approx(exact, rel=0.3, abs=0.3)
    assert skew_normal(references, 50.0, 1000).bits == math.log2(1000)
    assert skew_normal(references, -14.0, 1000).fit > 0.01


def test_a_search_can_be_cancelled():
    with pytest.raises(AttackCancelled):
        best_first(reader(), CODES, (1, 2, 3), most_read=1000, watch=Watch(cancelled=lambda: True))
