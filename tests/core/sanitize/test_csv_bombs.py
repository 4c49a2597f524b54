"""CSV that is made to be slow or large: refused, or its rows named as failed, without reading on and on."""

import io

import pytest

from core.errors import InputError
from core.sanitize.csv_items import csv_items
from core.sanitize.items import Item


def items(text: str, column: str = "text") -> list[Item | str]:
    return list(csv_items(io.StringIO(text), "a.csv", column, []))


def test_a_header_of_too_many_columns_is_refused():
    with pytest.raises(InputError, match="more than 1,000 fields"):
        items(",".join(f"c{number}" for number in range(100_000)) + "\n")


def test_a_row_of_too_many_fields_fails_alone():
    found = items("user,text\n1,before\n" + "," * 100_000 + "\n2,after\n")
    failures = [each.failure for each in found if isinstance(each, Item)]
    assert failures == ["", "it has more than 1,000 fields", ""]


def test_quotation_marks_that_open_at_every_line_are_given_up():
    with pytest.raises(InputError, match="do not close"):
        items("user,text\n" + 'b","a\n' * 20_000)


def test_one_mark_that_does_not_close_costs_one_line():
    found = items('user,text\n1,"never closed\n' + "2,plain\n" * 50)
    assert [bool(each.failure) for each in found if isinstance(each, Item)] == [True] + [False] * 50


def test_long_texts_over_many_lines_are_read():
    inside = "\n".join(f'line {number} says ""so"" and ends' for number in range(5_000))
    (item,) = [each for each in items(f'user,text\n1,"{inside}"\n') if isinstance(each, Item)]
    assert not item.failure
    assert item.text.count("\n") == 4_999
