"""A sanitised text: what was not sensitive is as it was, and nothing sensitive is passed through."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.sanitize import AllWords, Digits, Either, OwnWords, Span, make_mechanism, sanitize
from tests.core.sanitize.worlds import small_vocabulary

MECHANISM = make_mechanism("euclidean", small_vocabulary(), 2.0)


class Spans:
    """A policy with the spans that it is given."""

    name = "spans"

    def __init__(self, *spans: Span) -> None:
        self.given = list(spans)

    def spans(self, text: str) -> list[Span]:
        return self.given


def run(text, policy, mechanism=MECHANISM, **options):
    return sanitize(text, mechanism, policy, rng=np.random.default_rng(0), **options)


@given(st.text(min_size=1, max_size=300).filter(str.strip))
@settings(max_examples=300, deadline=None)
def test_a_text_without_anything_sensitive_comes_back_as_it_was(text):
    assert run(text, Spans()).text == text


@given(
    st.text(min_size=1, max_size=120).filter(str.strip),
    st.lists(st.tuples(st.integers(-5, 130), st.integers(-5, 130), st.booleans()), max_size=6),
)
@settings(max_examples=300, deadline=None)
def test_any_spans_leave_pieces_that_are_the_source_and_change_only_what_they_touch(text, places):
    result = run(text, Spans(*(Span(start, end, "x", whole) for start, end, whole in places)))
    assert result.source == text
    assert [piece.start for piece in result.pieces] == [0, *(piece.end for piece in result.pieces[:-1])]
    assert all(text[piece.start : piece.end] == piece.source for piece in result.pieces)
    assert all(piece.output == piece.source for piece in result.pieces if piece.state == "plain")
    plain = {at for piece in result.pieces if piece.state == "plain" for at in range(piece.start, piece.end)}
    for start, end, _ in places:
        assert not any(text[at].isalnum() for at in range(max(start, 0), min(end, len(text))) if at in plain)


@given(st.text(min_size=1, max_size=200).filter(str.strip), st.sampled_from([AllWords(), Digits()]))
@settings(max_examples=200, deadline=None)
def test_the_words_that_come_out_are_words_of_the_vocabulary(text, policy):
    result = run(text, policy)
    for piece in result.pieces:
        assert piece.state == "plain" or piece.output in MECHANISM.vocabulary.index
        assert piece.state != "plain" or not Digits().spans(piece.source)


def identifiers(count, seed=0):
    """Identifiers of many shapes, none of which is in a vocabulary."""
    rng = np.random.default_rng(seed)
    letters, digits = string.ascii_letters, string.digits

    def some(alphabet, n):
        return "".join(rng.choice(list(alphabet), n))

    shapes = [
        lambda: some(digits, 9),
        lambda: some(letters, 2) + some(digits, 6) + some(letters, 1),
        lambda: "-".join(some(digits, 3) for _ in range(3)),
        lambda: some(letters, 6).lower() + "." + some(letters, 5).lower() + some(digits, 2) + "@example.com",
        lambda: some(digits, 3) + "\u200b" + some(digits, 5),
        lambda: some("\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19", 7),
        lambda: some("\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669", 7),
        lambda: some(letters, 4) + "\u0301" + some(digits, 4),
        lambda: some(letters, 3) + "_" + some(digits, 5),
        lambda: some(digits, 2) + "/" + some(digits, 2) + "/" + some(digits, 4) + "/" + some(digits, 3),
        lambda: ":".join(some(digits, 2) for _ in range(6)),
        lambda: some(digits, 4) + "\u2011" + some(digits, 4),
    ]
    return [shapes[at % len(shapes)]() for at in range(count)]


@pytest.mark.parametrize("policy", [AllWords(), Digits()])
def test_of_ten_thousand_planted_identifiers_none_survives(glove, policy):
    planted = identifiers(10_000)
    # the law of a word outside the vocabulary does not depend on the noise, so a small vocabulary will do
    mechanism = make_mechanism("euclidean", small_vocabulary(), 1000.0)
    assert not [word for word in planted if word in glove or word in mechanism.vocabulary]
    result = run(" ".join(f"the nurse wrote {word}, well." for word in planted), policy, mechanism)
    assert result.out_of_vocabulary == 10_000
    survivors = [word for word in planted if word in result.text]
    assert survivors == []


def test_an_identifier_does_not_survive_in_parts_either():
    own = OwnWords(expressions=(r"[A-Z]{2}-\w+",))
    for text in ("code AB-nurse12.tea@x here", "see XY-145/365/nurse_king"):
        result = run(text, own)
        piece = next(piece for piece in result.pieces if piece.state != "plain")
        assert piece.source == text.split()[1]
        assert piece.state == "oov"


def test_numbers_become_numbers_and_other_words_words():
    many = run(" ".join(["998877", "Zzyzx-9", "qwertz"] * 100), AllWords())
    outputs = [piece.output for piece in many.pieces if piece.state == "oov"]
    assert len(outputs) == 300
    assert all(output.isdigit() == (at % 3 == 0) for at, output in enumerate(outputs))
    assert len(set(outputs[::3])) > 20, "a uniform draw, not one stand-in"


def test_the_draw_for_a_word_outside_the_vocabulary_does_not_depend_on_it():
    first, second = (run(f"id {word} here", Digits()).text for word in ("111222333", "9-8-7-6-5"))
    assert first == second


def test_a_span_that_is_one_thing_gets_one_draw_and_goes_whole():
    text = "card 4111 1111 1111 1111, thanks"
    result = run(text, Spans(Span(5, 24, "card", whole=True)))
    assert [piece.source for piece in result.pieces] == ["card ", "4111 1111 1111 1111", ", thanks"]
    assert result.perturbed == result.out_of_vocabulary == 1


def test_a_touched_word_is_perturbed_from_end_to_end():
    result = run("see nurse-2010x now", Spans(Span(8, 9, "a letter")))
    assert [piece.source for piece in result.pieces if piece.state != "plain"] == ["nurse-2010x"]


def test_whole_spans_that_overlap_become_one_and_swallow_words():
    spans = Spans(Span(0, 6, "first", True), Span(4, 9, "second", True), Span(2, 12, "words"))
    result = run("ab cd ef gh ij", spans)
    sensitive = [(piece.source, piece.reason) for piece in result.pieces if piece.state != "plain"]
    assert sensitive == [("ab cd ef", "first, second"), ("gh", "words")]


def test_what_the_vocabulary_writes_is_what_comes_out():
    loud = make_mechanism("euclidean", small_vocabulary(), 1000.0)
    result = run("The GAME, Café!", AllWords(), loud)
    assert result.text == "the game, café!"
    assert result.kept_by_chance == 3


def test_words_are_drawn_independently():
    result = run("tea " * 400, AllWords())
    assert len({piece.output for piece in result.pieces if piece.state != "plain"}) > 1
    assert 0 < result.kept_by_chance < 400


def test_two_runs_differ_and_a_seed_repeats_one():
    text = "the nurse wrote tea soup bread milk rain " * 20
    assert sanitize(text, MECHANISM, AllWords()).text != sanitize(text, MECHANISM, AllWords()).text
    assert run(text, AllWords()).text == run(text, AllWords()).text


def test_consistent_mode_draws_once_for_equal_words_whatever_their_case():
    text = "Tea TEA tea 998877 998877 soup"
    result = run(text, AllWords(), consistent=True)
    outputs = [piece.output for piece in result.pieces if piece.state != "plain"]
    assert len(set(outputs[:3])) == 1
    assert outputs[3] == outputs[4]
    assert (result.draws, result.perturbed) == (3, 6)
    assert run(text, AllWords()).draws == 6


def test_consistent_mode_forgets_between_documents():
    outputs = {sanitize("998877", MECHANISM, AllWords(), consistent=True).text for _ in range(40)}
    assert len(outputs) > 1


def test_reasons_of_several_policies_are_told_together():
    policy = Either((Digits(), OwnWords(words=("room 12",))))
    pieces = run("room 12 is cold", policy).pieces
    assert [(piece.source, piece.reason) for piece in pieces if piece.reason] == [
        ("room", "own word"),
        ("12", "digits, own word"),
    ]


def test_one_word_of_ten_megabytes_is_replaced():
    result = run("x1" * 5_000_000, Digits())
    assert result.out_of_vocabulary == 1
    assert len(result.text) < 100


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_no_text_is_a_sentence(text):
    with pytest.raises(InputError, match="no text"):
        sanitize(text, MECHANISM, AllWords())


def test_algorithm_one_on_real_vectors(glove):
    """SMDP changes what the policy names, MDP everything, and both more at a smaller epsilon."""
    text = "My ID is 145572. The game began development in 2010."
    kept = {}
    for epsilon in (2.0, 200.0):
        mechanism = make_mechanism("euclidean", glove, epsilon)
        smdp, mdp = run(text, Digits(), mechanism), run(text, AllWords(), mechanism)
        assert smdp.text.startswith("My ID is ")
        assert " The game began development in " in smdp.text
        assert (smdp.sensitive, mdp.sensitive, mdp.words) == (2, 10, 10)
        assert "145572" not in smdp.text + mdp.text
        kept[epsilon] = mdp.kept_by_chance
    assert kept == {2.0: 0, 200.0: 9}
