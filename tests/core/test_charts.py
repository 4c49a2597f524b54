"""Charts: what is drawn is what was given, and any words are safe in them."""

import re
from xml.etree import ElementTree

import pytest

from core.charts import Axis, Bar, Line, bar_chart, line_chart

_NASTY = ["<script>alert(1)</script>", "${alert(1)}", "{{7*7}}", "a & b < c", '"quoted" `tick` \\']


def _parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in _parsed(svg).iter() if element.tag.endswith("text")]


def _points(svg: str) -> list[tuple[float, float]]:
    found = re.search(r'polyline points="([^"]*)"', svg)
    assert found
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in found.group(1).split())]


def test_a_rising_line_rises_in_the_picture() -> None:
    svg = line_chart([Line("a", [(0, 1), (1, 2), (2, 4)])], title="T", x=Axis("x"), y=Axis("y"))
    (x0, y0), (x1, y1), (x2, y2) = _points(svg)
    assert x0 < x1 < x2
    assert y0 > y1 > y2
    assert (x1 - x0) == pytest.approx(x2 - x1, abs=0.11)
    assert (y1 - y2) == pytest.approx(2 * (y0 - y1), abs=0.2)


def test_fixed_limits_keep_a_point_where_it_is_while_others_come() -> None:
    x, y = Axis("x", 0, 10), Axis("y", 0, 10)
    few = line_chart([Line("a", [(1, 2)])], title="T", x=x, y=y)
    many = line_chart([Line("a", [(1, 2), (9, 9)])], title="T", x=x, y=y)
    assert _points(few)[0] == _points(many)[0]


def test_a_log_axis_gives_equal_room_to_equal_ratios() -> None:
    svg = line_chart([Line("a", [(1, 0), (10, 0), (100, 1)])], title="T", x=Axis("x", log=True), y=Axis("y"))
    (x0, _), (x1, _), (x2, _) = _points(svg)
    assert (x1 - x0) == pytest.approx(x2 - x1, abs=0.11)


@pytest.mark.parametrize("values", [[], [(0, 0)], [(1, float("nan")), (2, float("inf"))], [(0, 5), (1, 5)]])
def test_a_line_with_little_or_nothing_to_show_is_still_a_picture(values: list[tuple[float, float]]) -> None:
    assert _parsed(line_chart([Line("a", values)], title="T", x=Axis("x"), y=Axis("y"))).tag.endswith("svg")


def test_bars_are_as_long_as_their_values() -> None:
    svg = bar_chart([Bar("one", 1), Bar("two", 2)], title="T", unit="u")
    widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"', svg)]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.2)


def test_a_chart_says_in_words_what_it_shows() -> None:
    svg = bar_chart([Bar("Strict", 0.25, 0.1, 0.4, "codes")], title="What leaks", unit="share")
    words = {element.tag.split("}")[1]: element.text for element in _parsed(svg)}
    assert words["title"] == "What leaks"
    assert words["desc"] == "codes, Strict: 0.25"
    assert _parsed(svg).get("role") == "img"


@pytest.mark.parametrize("words", _NASTY)
def test_any_words_are_shown_as_they_are_and_run_nowhere(words: str) -> None:
    for svg in (
        line_chart([Line(words, [(0, 1)]), Line("b", [(0, 2)])], title=words, x=Axis(words), y=Axis(words)),
        bar_chart([Bar(words, 1, group=words)], title=words, unit=words),
    ):
        assert words in _texts(svg)
        assert not [sign for sign in ("<script", "${", "{{", "`") if sign in svg]
