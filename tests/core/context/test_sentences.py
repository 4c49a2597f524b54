"""The splitter: exact offsets in any script, and nothing lost at an edge."""
# ruff: noqa: RUF001

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context.sentences import OVERLAP, PIECE, split

TEXTS = st.one_of(
    st.text(max_size=2000),
    st.text(alphabet="ab .,;\n!?\"'。！x\u0301\u200d🙂", max_size=3000),
    st.lists(
        st.sampled_from(["My PIN is 4412.", "word", "Dr.", "\n", "\r\n", "  ", "x" * 400, "我的密码。"])
    ).map(" ".join),
)


WRAPPED = "This line was wrapped by a mail program after some\nwords."


def sentences(text: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in split(text)]


@given(TEXTS)
def test_only_white_space_lies_outside_of_the_pieces(text):
    end = 0
    for piece in split(text):
        assert piece.start >= end
        assert not text[end : piece.start].strip()
        end = piece.end
    assert not text[end:].strip()


@given(TEXTS)
def test_a_piece_is_trimmed_short_and_read_from_before_its_start(text):
    for piece in split(text):
        inner = text[piece.start : piece.end]
        assert inner == inner.strip() != ""
        assert len(inner) <= PIECE
        assert piece.start - OVERLAP <= piece.read_from <= piece.start


@given(st.integers(0, 900), st.integers(0, 900), st.sampled_from(["w ", "word, ", "longer; ", "x"]))
def test_a_phrase_that_straddles_a_cut_is_whole_in_one_reading(before, after, filler):
    phrase = "my social security number is 123-45-6789"
    text = filler * (before // len(filler)) + " " + phrase + " " + filler * (after // len(filler))
    assert any(phrase in text[piece.read_from : piece.end] for piece in split(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I met Dr. Smith at 3 p.m. on Jan. 5. Yes.", ["I met Dr. Smith at 3 p.m. on Jan. 5.", "Yes."]),
        ("Name: Bo\nPIN: 4412", ["Name: Bo", "PIN: 4412"]),
        ("my pin is 4412\nthanks", ["my pin is 4412", "thanks"]),
        (WRAPPED + " Next.", [WRAPPED, "Next."]),
        ("“What?” she said. “No.”", ["“What?”", "she said.", "“No.”"]),
        ("我的密码是1234。谢谢！", ["我的密码是1234。", "谢谢！"]),
        ("It costs 3.50 today", ["It costs 3.50 today"]),
        ("Wait... what?! Yes", ["Wait...", "what?!", "Yes"]),
        ("J. R. Smith came. He sat.", ["J. R. Smith came.", "He sat."]),
        ("", []),
        (" \n\t ", []),
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(text, found):
    assert sentences(text) == found


def test_a_megabyte_in_one_line_is_cut_and_covered():
    text = "word " * 200_000
    pieces = split(text)
    assert len(pieces) > 3_000
    assert sum(piece.end - piece.start for piece in pieces) >= len(text) - 2 * len(pieces)
    assert "".join(text[piece.start : piece.end] for piece in pieces).replace(" ", "") == "word" * 200_000
