"""Policies: offsets on any script, own words and expressions, the context detector, and their union."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.sanitize import AllWords, Context, Digits, Either, OwnWords, parse_policies
from core.sanitize.patterns import Patterns

MULTIBYTE = (
    "Zoë 🙂 weiß: нет 42; 東京 room 7b, naïve e\u0301t \uff14\uff12. "
    "Ann O\u2019Brien — ann@example.com \U0001d538nn"
)


def found(policy, text):
    return [text[span.start : span.end] for span in policy.spans(text)]


def test_offsets_are_right_on_multi_byte_text():
    assert found(Digits(), MULTIBYTE) == ["42", "7", "\uff14\uff12"]
    assert found(AllWords(), MULTIBYTE)[:4] == ["Zoë", "weiß", "нет", "42"]
    own = OwnWords.parse(["zoë", "东京", "ann o'brien", "/東./", "WEISS"])
    assert sorted(found(own, MULTIBYTE)) == ["Ann O\u2019Brien", "Zoë", "weiß", "東京"]
    assert found(Patterns(), MULTIBYTE) == ["ann@example.com", "example.com"]


@given(st.text(max_size=80), st.sampled_from(["42", "ann@example.com", "\u0664٢"]), st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_a_number_is_found_at_its_place_between_any_characters(before, planted, after):
    text = f"{before} {planted} {after}"
    at = len(before) + 1
    policy = Digits() if planted != "ann@example.com" else OwnWords(words=("ann@example.com",))
    covered = {place for span in policy.spans(text) for place in range(span.start, span.end)}
    assert set(range(at, at + len(planted))) <= covered


def test_own_words_match_whole_and_without_case_in_composed_or_decomposed_spelling():
    own = OwnWords.parse(["Ann", "José", "Mary Jane", "", "  "])
    text = "ANN's Annette, Jose\u0301! mary-jane, Mary\n Jane; Mary, Jane"
    assert found(own, text) == ["ANN", "Jose\u0301", "mary-jane", "Mary\n Jane"]


def test_own_words_with_signs_are_found_as_they_stand():
    assert found(OwnWords.parse(["C++", "§ 5", "***"]), "c++ and C, § 5 or ***") == ["c++", "§ 5", "***"]


def test_an_expression_that_matches_no_word_is_replaced_whole():
    spans = OwnWords.parse(["/★+/"]).spans("rated ★★★ by Ann")
    assert [(span.start, span.end, span.whole) for span in spans] == [(6, 9, True)]


def test_a_long_list_of_own_words_is_found_in_one_pass():
    own = OwnWords(words=tuple(f"name{number}" for number in range(50_000)))
    assert found(own, "name7 met NAME49999 and name50000") == ["name7", "NAME49999"]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (["/(/"], "not a regular expression"),
        ([], "is empty"),
        (["  "], "is empty"),
    ],
)
def test_own_words_that_cannot_be_used_are_a_sentence(entries, sentence):
    with pytest.raises(InputError, match=sentence):
        OwnWords.parse(entries)


def test_an_expression_without_end_is_a_sentence(monkeypatch):
    monkeypatch.setattr("core.sanitize.own_words._SECONDS", 0.05)
    with pytest.raises(InputError, match="takes too long"):
        OwnWords.parse(["/(a|aa)+$/"]).spans("a" * 60 + "!")


@dataclass
class Place:
    start: int
    end: int


class Detector:
    """What `core.context` gives: flagged stretches."""

    def flag(self, text):
        at = text.find("My number is")
        return [Place(at, len(text))] if at >= 0 else []


def test_the_context_policy_takes_a_detector_or_a_function():
    text = "It rains. My number is secret"
    assert found(Context(Detector()), text) == ["My number is secret"]
    assert found(Context(lambda _: [Place(0, 2)]), text) == ["It"]


def test_policies_compose_by_name():
    policy = parse_policies("digits, Patterns,context", own=["rain"], detector=Detector())
    assert isinstance(policy, Either)
    assert policy.name == "digits,patterns,context,own"
    assert parse_policies("all") == AllWords()
    assert parse_policies(["digits", "digits"]) == Digits()
    assert {span.reason for span in policy.spans("rain 12 My number is")} == {"own word", "digits", "context"}


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("", "at least one"),
        ("digits,colours", "no policy called 'colours'"),
        ("own", "needs words"),
        ("context", "needs a context detector"),
    ],
)
def test_a_policy_that_is_not_there_is_a_sentence(names, sentence):
    with pytest.raises(InputError, match=sentence):
        parse_policies(names)
