"""Where words begin and end, in any script, and how they are looked up."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.sanitize.words import has_digit, is_number, normal_form, word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My ID is 145572.", ["My", "ID", "is", "145572"]),
        ("AB12CD, 12-34-56; +44 (0)20", ["AB12CD", "12-34-56", "44", "0", "20"]),
        ("ann.b@example.com, 7/29/07 at 10:30", ["ann.b@example.com", "7/29/07", "at", "10:30"]),
        ("1,000.50 but one,two", ["1,000.50", "but", "one", "two"]),
        ("don't, John's, can\u2019t, O'Brien", ["do", "n't", "John", "'s", "ca", "n\u2019t", "O'Brien"]),
        ("the U.S. and e.g. this. End", ["the", "U.S.", "and", "e.g.", "this", "End"]),
        ("well-known and/or AT&T", ["well-known", "and/or", "AT&T"]),
        ("user_name __x__ ____ --", ["user_name", "__x__"]),
        ("pass\u200bword caf\u0065\u0301 नमस्ते", ["pass\u200bword", "caf\u0065\u0301", "नमस्ते"]),
        (
            "\uff11\uff14\uff15\uff15\uff17\uff12 \u0664٢ ½ Ⓐ1 1\ufe0f\u20e3",
            ["\uff11\uff14\uff15\uff15\uff17\uff12", "\u0664٢", "½", "Ⓐ1", "1\ufe0f\u20e3"],
        ),
        ("2010\u201311 12\u202f345", ["2010\u201311", "12\u202f345"]),
        ("👩\u200d👩 !?! \u200b", []),
        ("", []),
    ],
)
def test_a_word_ends_where_a_reader_says(text, expected):
    assert words(text) == expected


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_words_are_in_order_apart_and_hold_every_letter_and_digit(text):
    spans = word_spans(text)
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    missed = [char for at, char in enumerate(text) if at not in covered and char.isalnum()]
    assert missed == []


@given(st.text(alphabet="ab1.-'/@_\u200b\u0301 ", max_size=60))
@settings(max_examples=300, deadline=None)
def test_gluing_characters_never_hide_a_letter(text):
    assert "".join(char for char in "".join(words(text)) if char.isalnum()) == "".join(
        char for char in text if char.isalnum()
    )


def test_long_runs_of_any_kind_are_read_once():
    for unit in ("a", "_", "1", "a.", "1-", "a'", "\u200b", "'s", "x@", "\u0301"):
        word_spans(unit * 100_000)


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("The", "the"),
        ("\uff11\uff14\uff15", "145"),
        ("CAF\u0045\u0301", "café"),
        ("pass\u200bword", "password"),
        ("well\u2010known", "well-known"),
        ("n\u2019t", "n't"),
    ],
)
def test_one_word_has_one_form_whatever_its_spelling(word, form):
    assert normal_form(word) == form


def test_digits_of_all_scripts_count_and_numerals_written_as_letters_do_not():
    assert all(map(has_digit, ("1", "AB12CD", "\u0661", "\uff14", "½", "②", "\U0001d7d9", "x²")))
    assert not any(map(has_digit, ("one", "一", "_", "é")))
    assert is_number("12-34-56")
    assert not is_number("12a")
