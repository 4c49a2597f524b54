"""The meter, the bars and the burn-down: numbers in, HTML out, without a browser."""

import re
from dataclasses import replace

import pytest

from app.components.meter import Reading, bars_html, burn_down_svg, meter_html

FULL = Reading(
    epsilon=2.0, alpha=2.0, queries=1000, used=100, remaining=(1.9, 1.8, 1.95), history=((0, 2.0), (100, 1.8))
)
NOMINAL = Reading(epsilon=2.0, alpha=2.0, queries=1000, used=100)


def attribute(html: str, name: str) -> str:
    return re.search(rf'{name}="([^"]*)"', html).group(1)


def test_the_meter_says_its_values_to_a_screen_reader():
    html = meter_html(FULL)
    assert attribute(html, "role") == "meter"
    assert (attribute(html, "aria-valuemin"), attribute(html, "aria-valuemax")) == ("0", "2")
    assert attribute(html, "aria-valuenow") == "1.8000"
    assert attribute(html, "aria-valuetext") == "1.8000 of 2 left in the weakest part. Healthy."


def test_the_strip_names_the_weakest_part_and_the_tokens_left():
    html = meter_html(FULL)
    assert "weakest: part 2" in html
    assert "about 900 tokens at this pace" in html
    assert "weakest: part 1b" in meter_html(replace(FULL, halves=True))


def test_a_visitor_of_a_private_corpus_sees_terms_and_counts_only():
    html = meter_html(NOMINAL)
    assert "900</b> of 1,000 queries left" in html
    assert "for the curator" in html
    assert "weakest" not in html
    assert "pace" not in re.sub(r"<[^>]*>", "", html)
    for left in ("1.8", "1.9", "1.95"):
        assert left not in html


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "Healthy"),
        ({"remaining": (1.9, 0.6, 1.9)}, "Watch"),  # under a third
        ({"used": 10, "remaining": (1.4, 1.9, 1.9)}, "Watch"),  # well behind the even pace
        ({"remaining": (1.9, 0.19, 1.9)}, "Low"),
        ({"used": 1000}, "Public model only"),
        ({"stopped": True}, "Public model only"),
        ({"remaining": (0.0, 0.0, 0.0)}, "Public model only"),
        ({"protected": False}, "No protection"),
    ],
)
def test_the_state_is_in_words_and_in_a_class(change, state):
    reading = replace(FULL, **change)
    assert reading.state == state
    html = meter_html(reading)
    assert f">{state}<" in html
    assert f'class="meter {state.split()[0].lower()}"' in html


def test_states_of_a_visitor_follow_the_public_count():
    assert [replace(NOMINAL, used=used).state for used in (0, 700, 950, 1000)] == [
        "Healthy", "Watch", "Low", "Public model only",
    ]  # fmt: skip


def test_tokens_left_never_exceed_the_plan_and_follow_the_pace():
    assert replace(FULL, used=0, remaining=(2.0,) * 3).tokens_left == 1000
    assert FULL.tokens_left == 900
    assert replace(FULL, remaining=(1.0, 2.0, 2.0)).tokens_left == 100
    assert replace(FULL, remaining=(0.0, 2.0, 2.0)).tokens_left == 0
    assert replace(FULL, used=1000).tokens_left == 0


def test_bars_stand_weakest_first():
    names = re.findall(r'bar-name">([^<]+)', bars_html(FULL))
    lefts = re.findall(r'bar-left">([^<]+)', bars_html(FULL))
    assert names == ["part 2", "part 1", "part 3"]
    assert lefts == ["1.8000", "1.9000", "1.9500"]


def test_the_axes_of_the_burn_down_never_move():
    def ticks(svg: str) -> list[str]:
        return re.findall(r"<text[^>]*>([\d.,]+)</text>", svg)

    later = replace(FULL, used=900, remaining=(0.2,) * 3, history=((0, 2.0), (450, 1.0), (900, 0.2)))
    assert ticks(burn_down_svg(FULL)) == ticks(burn_down_svg(later))
    assert "<title>" in burn_down_svg(FULL)
    assert "900 of 1,000 queries" in burn_down_svg(later)


def test_every_frame_has_the_same_nodes_so_that_nothing_flickers():
    """The page patches what differs; equal structure means that no element is taken away and made again."""

    def skeleton(html: str) -> list[str]:
        return re.findall(r"</?\w+", html)

    later = replace(FULL, used=101, remaining=(1.89, 1.79, 1.94), history=(*FULL.history, (101, 1.79)))
    for made in (meter_html, bars_html, burn_down_svg):
        assert skeleton(made(FULL)) == skeleton(made(later))
