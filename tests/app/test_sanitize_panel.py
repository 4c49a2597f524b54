"""Formatting of the Sanitize panel: marks, facts, verdicts, the slider's words. Nothing in it can run."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from app.components.progress import progress_html
from app.panels.sanitize.filed import file_progress_html, report_html
from app.panels.sanitize.look import Column, counts, examples_html, facts_html, results_html
from app.panels.sanitize.scale import (
    EPSILONS,
    EpsilonField,
    epsilon_at,
    how_often,
    in_short,
    in_words,
    step_of,
)
from app.panels.sanitize.undone import undone_html, verdict_html
from core.attack.sanitised.reconstruction import Reconstruction, WordGuess
from core.sanitize import (
    AllWords,
    Digits,
    FileProgress,
    FileReport,
    Piece,
    Sanitized,
    Vocabulary,
    make_mechanism,
)
from core.sanitize.file_report import Failed
from core.sanitizing import Stays
from tests.app.payloads import PAYLOADS

PIECES = (
    Piece(0, 5, "Born ", "Born ", "plain"),
    Piece(5, 9, "1999", "2001", "replaced", "digits", 1.25),
    Piece(9, 12, ", I", ", I", "plain"),
    Piece(13, 15, "47", "47", "kept", "digits", 0.0),
    Piece(15, 16, " ", " ", "plain"),
    Piece(16, 22, "145572", "33", "oov", "digits"),
)
RESULT = Sanitized(PIECES, 5, 3, 8.0, "euclidean", "digits", False)
NEAR = {"1999": [("1998", 0.5), ("2000", 0.75)]}


class Text(HTMLParser):
    """What a browser would show, and the tags and attributes that it would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags, self.attributes = "", [], []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def mechanism(epsilon: float = 8.0):
    vectors = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    return make_mechanism(
        "euclidean", Vocabulary(["1999", "2001", "47", "33", "one", "two"], vectors), epsilon
    )


def test_every_mark_says_what_became_of_its_word():
    seen = Text(results_html([Column("chosen", "The chosen words", RESULT)], NEAR))
    said = [value for name, value in seen.attributes if name == "data-said"]
    assert said == [
        "replaced, was 1999 (digits); distance 1.25; nearest to 1999: 1998 0.50, 2000 0.75",
        "came back by chance, was 47 (digits)",
        "outside the vocabulary, was 145572 (digits)",
    ]


def test_the_text_to_copy_is_the_output_and_nothing_else():
    page = results_html([Column("chosen", "The chosen words", RESULT)], NEAR)
    assert f'<pre class="plain" hidden>{RESULT.text}</pre>' in page
    assert "145572" not in Text(page).text.replace("was 145572", "")


def test_looks_differ_by_more_than_colour():
    css = (Path(__file__).parents[2] / "assets" / "sanitize.css").read_text()
    lines = {line.split("{")[0].strip(): line for line in css.splitlines() if line.startswith(".word.")}
    borders = [lines[f".word.{look}"].split("border")[1] for look in ("replaced", "kept", "oov")]
    assert [("solid" in b, "dotted" in b, "dashed" in b) for b in borders] == [
        (True, False, False), (False, True, False), (False, False, True),
    ]  # fmt: skip


def test_a_text_without_sensitive_words_is_said_to_be_unchanged():
    plain = replace(RESULT, pieces=(Piece(0, 3, "One", "One", "plain"),), words=1, draws=0)
    assert counts(plain) == "None of 1 word is sensitive by this choice: the text is as it was."


@pytest.mark.parametrize("policy", [AllWords(), Digits()])
def test_the_card_has_every_fact(policy):
    card = Text(facts_html(RESULT, mechanism(), policy, Stays(0.5, 0.2))).text
    for fact in ("8", "3 of 5 words", "5 times in 10", "exp(8 d(w, w'))", "does not hide", "add up"):
        assert fact in card
    assert "epsilon-DP" not in card


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.0, "hardly ever"),
        (0.014, "about once in 100"),
        (0.05, "about 5 times in 100"),
        (0.11, "about once in 10"),
        (0.3, "about 3 times in 10"),
        (0.96, "about 96 times in 100"),
        (1.0, "nearly always"),
    ],
)
def test_a_chance_is_said_as_people_say_it(chance, words):
    assert how_often(chance) == words


def test_the_slider_s_words_follow_the_chances():
    assert "stays itself about 3 times in 10, a number hardly ever" in in_words(Stays(0.3, 0.001))
    said = [in_short(Stays(chance, 0.0)) for chance in (0.95, 0.7, 0.4, 0.1, 0.01)]
    assert len(set(said)) == 5


def test_the_scale_grows_and_comes_back_from_the_address():
    assert list(EPSILONS) == sorted(EPSILONS)
    assert all(step_of(epsilon_at(step)) == step for step in range(len(EPSILONS)))
    steps = np.diff(EPSILONS)
    assert steps[-1] > 10 * steps[0]  # fine where words begin to move, coarse where they no longer do
    field = EpsilonField("word_epsilon", None, EPSILONS[0], EPSILONS[-1])  # type: ignore[arg-type]
    assert field.read({"word_epsilon": "12"}) == EPSILONS.index(12.0)
    assert field.read({"word_epsilon": "1e9"}) is None
    assert field.read({"word_epsilon": "nan"}) is None


def attack(**changes) -> Reconstruction:
    words = (
        WordGuess(1, "2001", "1999", 0.4, (("1999", 0.4), ("2001", 0.3)), right=True, changed=True),
        WordGuess(3, "47", "47", 0.9, (("47", 0.9),), right=True, changed=False),
        WordGuess(5, "33", "34", 0.2, (("34", 0.2),), right=False, changed=True),
    )
    return replace(Reconstruction("bayes", words, 2 / 3, 0.094, 0.992), **changes)


def test_the_verdict_tells_what_was_undone_from_what_had_stayed():
    said = Text(verdict_html(attack())).text
    assert "named 2 of 3 perturbed words (67 %, 95 % interval 9 % to 99 %)" in said
    assert "1 that had been replaced and 1 that had come back by chance" in said
    none = Text(verdict_html(attack(words=attack().words[2:], rate=0.0, low=0.0, high=0.975))).text
    assert "named none of 1 perturbed word (95 % interval 0 % to 98 %)" in none
    assert "Not all words were tried" in Text(verdict_html(attack(complete=False))).text


def test_what_came_back_is_marked_and_what_was_not_tried_is_told():
    page = undone_html(RESULT, attack(words=attack().words[:2], complete=False))
    classes = [value for name, value in Text(page).attributes if name == "class"]
    assert "word back" in classes
    assert "word same" in classes
    assert "word untried" in classes
    assert "published as 2001, was 1999; the attacker thinks of 1999 40 %, 2001 30 %" in page


def report(**changes) -> FileReport:
    values = {
        "output": Path("x"), "kind": "csv", "rows": 1200, "words": 5, "perturbed": 3, "kept_by_chance": 1,
        "out_of_vocabulary": 1, "draws": 3, "failed": 0, "failures": (),
        "notes": ("A note.",), "seconds": 100.0,
    }  # fmt: skip
    return FileReport(**{**values, **changes})


def test_a_file_s_failed_rows_are_named_and_counted():
    failures = tuple(Failed(f"row {row}", "it has too many cells") for row in range(40))
    page = Text(report_html("notes.csv", report(failed=40, failures=failures), ["A fact."])).text
    assert "40 of 1,200 rows could not be" in page
    assert "row 9" in page
    assert "row 10" not in page
    assert "A note." in page
    assert "A fact." in page
    assert "notes.csv is rewritten: 1,200 rows in 2 min." in Text(report_html("notes.csv", report(), ())).text


def test_progress_tells_the_time_left_where_it_is_known():
    assert "about 30 s left" in file_progress_html(FileProgress(1, 4, 10, 100, 30.0))
    assert "left" not in file_progress_html(FileProgress(0, 4, 0, 0, float("inf")))
    assert 'aria-valuenow="25"' in file_progress_html(FileProgress(1, 4, 10, 100, 30.0))
    assert "left" not in progress_html(0.0, "Undoing word 1 of 9", None)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_in_a_text_a_file_s_name_or_a_row_can_run(payload):
    pieces = (
        Piece(0, 1, payload, payload, "plain"),
        Piece(1, 2, payload, payload, "replaced", payload, 1.0),
    )
    result = replace(RESULT, pieces=pieces)
    guess = WordGuess(1, payload, payload, 0.5, ((payload, 0.5),), right=False, changed=True)
    failed = report(failed=1, failures=(Failed(payload, payload),), notes=(payload,))
    pages = [
        results_html([Column("chosen", payload, result)], {payload: [(payload, 1.0)]}),
        examples_html([(payload, result)]),
        undone_html(result, attack(words=(guess,))),
        report_html(payload, failed, [payload]),
        progress_html(0.5, payload, 1.0),
    ]
    allowed = {
        "div", "section", "h2", "p", "pre", "span", "i", "ul", "li", "table", "caption", "thead", "tbody",
        "tr", "th", "td",
    }  # fmt: skip
    for page in pages:
        seen = Text(page)
        assert set(seen.tags) <= allowed
        assert not any(
            name.startswith("on") or name in ("href", "src", "srcdoc") for name, _ in seen.attributes
        )
        assert not any(sign in page for sign in ("${", "{{", "`", "\\"))
        assert payload in seen.text
