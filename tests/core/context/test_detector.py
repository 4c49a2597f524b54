"""The detector over whole texts: sentences with their neighbours, exact offsets, any script, any length."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context.detector import Detector, Sentence
from core.context.sentences import split
from core.errors import InputError, ModelUnavailable
from core.settings import Settings

GREETINGS = (Path(__file__).parent / "languages.txt").read_text(encoding="utf-8")


class Keyword:
    """A scorer that can be foreseen: 1 for a sentence that names a PIN, 0.6 after one, 0.1 elsewhere."""

    def scores(self, sentences, contexts):
        return np.array(
            [
                1.0 if "PIN" in own else 0.6 if "PIN" in before else 0.1
                for own, before in zip(sentences, contexts, strict=True)
            ]
        )

    def nearest(self, sentence, n):
        return ()


@pytest.fixture
def keyword():
    return Detector("keyword", Keyword(), 0.7)


@given(st.text(max_size=400))
def test_every_sentence_stands_where_it_says(text):
    for sentence in Detector("keyword", Keyword(), 0.5).detect(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.window_start <= sentence.start < sentence.end <= len(text)


def test_a_sentence_is_read_with_the_one_before_it(keyword):
    text = "It rains. My PIN is here: Then. It is 4412. Bye."
    scores = [sentence.score for sentence in keyword.detect("It rains. My PIN came. It is 4412. Bye.")]
    assert scores == [0.1, 1.0, 0.6, 0.1]
    assert [sentence.flagged for sentence in keyword.at(0.6).detect("My PIN came. It is 4412.")] == [
        True,
        True,
    ]
    assert keyword.detect(text)[1].window_start == 0


def test_flagged_neighbours_are_one_span_and_others_are_apart(keyword):
    text = "PIN a.  PIN b. Tea.\nPIN c."
    assert [text[span.start : span.end] for span in keyword.flag(text)] == ["PIN a.  PIN b.", "PIN c."]
    assert keyword.flag("") == []


def test_a_passage_is_as_sensitive_as_its_worst_sentence(keyword):
    assert keyword.passages(["Tea. My PIN. Tea.", "Tea.", "", "Tea. Tea."]).tolist() == [1.0, 0.1, 0.0, 0.1]


def test_a_passages_score_does_not_depend_on_the_others(keyword):
    assert keyword.passages(["PIN.", "Then."]).tolist() == [1.0, 0.1]


def test_what_cannot_be_asked_is_a_sentence(keyword):
    with pytest.raises(InputError, match="between 0 and 1"):
        keyword.at(1.5)
    with pytest.raises(InputError, match="2 sentences and 1 contexts"):
        keyword.score(["a", "b"], ["c"])
    with pytest.raises(ModelUnavailable, match="no detector called"):
        Detector.load(Settings(_env_file=None), "nobody")
    with pytest.raises(InputError, match="cannot be a detector's name"):
        Detector.load(Settings(_env_file=None), "../../etc")


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_too_strange_for_the_network(tiny_session, text):
    for sentence in tiny_session.detect(text):
        assert isinstance(sentence, Sentence)
        assert 0.0 <= sentence.score <= 1.0


@pytest.mark.parametrize("text", ["\ud800", "\0\0\0", "a\ud83d b.", "\u200b" * 50])
def test_lone_surrogates_and_unseen_characters_do_not_stop_it(tiny_session, text):
    assert all(np.isfinite(sentence.score) for sentence in tiny_session.detect(text))


def test_fifty_languages_and_emoji_are_read(shipped):
    found = shipped.detect(GREETINGS)
    assert len(found) > 45
    assert all(
        np.isfinite(sentence.score) and GREETINGS[sentence.start : sentence.end] == sentence.text
        for sentence in found
    )


def test_a_megabyte_in_one_line_is_read_and_its_secret_is_found(shipped):
    filler = "the harbour was quiet and the boats lay still, "
    half = filler * (500_000 // len(filler))
    text = half + "my bank security code is 450, " + half
    assert len(text) > 999_000
    flagged = [sentence for sentence in shipped.detect(text) if sentence.flagged]
    place = len(half)
    assert any(sentence.start <= place + 20 and sentence.end >= place for sentence in flagged)
    assert len(flagged) < 5


FILLERS = (
    "The museum opens at nine and has two floors.",
    "We walked along the river for an hour.",
    "The soup needs more salt, and the bread is still in the oven.",
    "Trains to the coast leave every twenty minutes from the second platform, except on Sundays.",
    "It rained.",
)


@pytest.mark.parametrize("joint", [" ", "\n", "\r\n\r\n", "  \t"])
def test_no_secret_is_lost_at_any_edge(shipped, draw, joint):
    """A secret is planted at random places of texts of random lengths; each one must be found."""
    secrets = ("My bank security code is 450.", "The PIN for my card is 4417.", "My password is walrus77!")
    for _ in range(12):
        before = [FILLERS[i] for i in draw.integers(len(FILLERS), size=draw.integers(0, 30))]
        after = [FILLERS[i] for i in draw.integers(len(FILLERS), size=draw.integers(0, 30))]
        secret = secrets[draw.integers(3)]
        text = joint.join([*before, secret, *after])
        start = len(joint.join([*before, ""]))
        assert any(
            s.flagged and s.start <= start and s.end >= start + len(secret) for s in shipped.detect(text)
        ), text


def test_a_sentence_without_an_end_does_not_hide_a_secret(shipped, draw):
    """The same inside one long sentence, where cuts fall anywhere."""
    clauses = (
        "the tide had gone out and the children were looking for shells",
        "we sat on the wall and ate chips while the ferry came in",
        "nobody had thought of bringing a coat so we went back early",
        "the band played until ten and then the lights went on again",
    )
    for _ in range(12):
        lead, tail = (
            ", and ".join(clauses[i] for i in draw.integers(4, size=draw.integers(2, 12))) for _ in range(2)
        )
        text = f"{lead}, my bank security code is 450, {tail}"
        place = text.index("450")
        assert any(span.start <= place + 3 and span.end >= place - 40 for span in shipped.flag(text)), text


def test_words_without_grammar_do_not_hide_a_secret(shipped, draw):
    words = (
        "harbour",
        "boats",
        "gulls",
        "water",
        "ropes",
        "light",
        "evening",
        "quiet",
        "wooden",
        "slowly",
        "along",
    )
    for _ in range(12):
        lead = " ".join(words[i] for i in draw.integers(len(words), size=draw.integers(20, 160)))
        tail = " ".join(words[i] for i in draw.integers(len(words), size=draw.integers(20, 160)))
        text = f"{lead}, my bank security code is 450, {tail}"
        assert len(split(text)) > 1
        place = text.index("450")
        assert any(span.start <= place + 3 and span.end >= place - 40 for span in shipped.flag(text)), text
