"""Many exposures together: each of them drawn in order, and an extrapolation that says what it is."""

import math

from core.attack.experiments.distribution import distribution, extrapolated
from core.attack.ranking.exposure import BASELINE, Exposure, Extrapolated


def ranked(rank: int) -> Exposure:
    bits = 10.0 - math.log2(rank)
    return Exposure(bits, bits, bits, 1024, "search", -1.0, 5, rank)


def sampled(bits: float, fit: float) -> Exposure:
    return Exposure(2.0, 1.0, 6.0, 1024, "sample", -9.0, 5, None, Extrapolated(bits, fit))


def test_every_exposure_is_drawn_in_order_over_the_mean_of_what_nobody_memorised():
    (picture,) = distribution([("Strict", [ranked(1), ranked(512), ranked(4), ranked(32)])], "Each", "secret")
    line, dashed = picture.lines
    assert line.points == ((1.0, 1.0), (2.0, 5.0), (3.0, 8.0), (4.0, 10.0))
    assert {bits for _, bits in dashed.points} == {BASELINE}
    assert dashed.style == "dashed"
    assert picture.y_limits == (0.0, 10.0)


def test_three_secrets_are_no_distribution():
    assert distribution([("Strict", [ranked(1)] * 3)], "Each", "secret") == ()


def test_an_extrapolation_is_marked_as_such_and_says_how_badly_it_fits():
    (found,) = extrapolated("Strict", [ranked(1), sampled(3.0, 0.5), sampled(5.0, 0.04)])
    assert found.value == 4.0
    assert found.measure == "mean exposure, extrapolated"
    assert "for 2 of 3: not a measurement" in found.note
    assert "p 0.04 at worst" in found.note
    assert found.low is None


def test_where_every_rank_is_known_nothing_is_extrapolated():
    assert extrapolated("Strict", [ranked(1), ranked(2)]) == []
