"""What the page and the API ask of the detector: texts, secrets, lessons, taught files, deciding words."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from core.context.asked import LONGEST_TEXT, find, known_detector, likely_secret, read_text
from core.context.deciding import deciding_words
from core.context.detector import Detector
from core.context.export import export
from core.context.learning.lesson import read_lesson, typed
from core.context.learning.taught_file import read_taught, taught_bytes
from core.context.learning.teach import teach
from core.context.scorer import HeadScorer
from core.errors import InputError


class Words:
    """A scorer that flags sentences in which both of two words stand."""

    def __init__(self, *needed):
        self.needed = needed

    def scores(self, sentences, contexts):
        return np.array([0.9 if all(word in text for word in self.needed) else 0.1 for text in sentences])

    def nearest(self, sentence, n):
        return ()


def test_another_threshold_flags_anew_without_reading_again(tiny_session):
    found = find("My PIN is 4417. It rains. Tea is ready.", tiny_session)
    scores = [sentence.score for sentence in found.sentences]
    for threshold in (0.0, sorted(scores)[1], 1.0):
        moved = found.at(threshold)
        assert [sentence.score for sentence in moved.sentences] == scores
        assert [sentence.flagged for sentence in moved.sentences] == [score >= threshold for score in scores]
        assert moved.detector.threshold == threshold


def test_what_stood_before_a_sentence_is_what_was_read(tiny_session):
    found = find("I got my card. My number is 12.", tiny_session)
    assert found.before(0) == ""
    assert found.before(1) == "I got my card."


@pytest.mark.parametrize("text", ["", " \n ", "a\0b", "half \ud800 pair", "x" * (LONGEST_TEXT + 1), None, 7])
def test_what_cannot_be_read_is_a_sentence(text, tiny_session):
    with pytest.raises(InputError):
        find(text, tiny_session)


def test_a_page_names_no_folder_on_the_disk(tmp_path, settings):
    (tmp_path / "config.json").write_text("{}")
    for name in (str(tmp_path), "../../etc", "no such detector"):
        with pytest.raises(InputError, match="There is no detector"):
            known_detector(name, settings)


@pytest.mark.parametrize(
    ("sentence", "secret"),
    [
        ("My bank security code is 450.", "450"),
        ("Call me on 0113 496 0182, not before 9.", "0113 496 0182"),
        ("The password is swordfish.", "swordfish"),
        ("wifi: marigold-77!", "marigold-77!"),
        ("...", ""),
    ],
)
def test_the_likely_secret_of_a_sentence(sentence, secret):
    assert likely_secret(sentence) == secret


def test_the_deciding_words_are_the_fewest_without_which_nothing_is_flagged():
    sentence = "my code and my bank code are here"
    one = deciding_words(Detector("x", Words("bank", "code"), 0.5), sentence)
    assert [word.text for word in one.words] == ["bank"]  # both uses of "code" would be two
    assert (one.score, one.without, one.exact) == (0.9, 0.1, True)
    both = deciding_words(Detector("x", Words("code"), 0.5), sentence)
    assert [(word.text, word.start) for word in both.words] == [("code", 3), ("code", 20)]
    assert both.exact
    assert deciding_words(Detector("x", Words("bank"), 0.5), "It rains.").words == ()
    assert (
        deciding_words(Detector("x", Words(), 0.5), "It rains.").words == ()
    )  # an empty one is flagged, too


def test_a_taught_detector_travels_in_a_file_and_scores_the_same(tiny, tmp_path):
    taught = teach(tiny, ["The heron nests by the third weir."], []).detector.at(0.3)
    path = tmp_path / "mine.safetensors"
    path.write_bytes(taught_bytes(taught))
    again = read_taught(path, tiny)
    texts = ["The heron nests by the third weir.", "It rains."]
    assert (again.score(texts) == taught.score(texts)).all()
    assert again.threshold == 0.3
    assert isinstance(again.scorer, HeadScorer)
    assert again.scorer.head.about.taught == (1, 0)
    assert (tiny.score(texts) != again.score(texts)).any()


def test_a_file_that_is_no_taught_detector_is_refused_and_never_run(tiny, tmp_path):
    taught = taught_bytes(tiny)
    ran = tmp_path / "ran"

    class Bomb:
        def __reduce__(self):
            return ran.touch, ()

    bad = [
        b"",
        b"\0" * 16,
        taught[:-3],
        pickle.dumps(Bomb()),
        b"x" * 2_000_000,
        taught.replace(b"taught det", b"forged det"),
    ]
    for number, content in enumerate(bad):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(content)
        with pytest.raises(InputError, match="no detector that was taught"):
            read_taught(path, tiny)
    assert not ran.exists()


def test_a_unit_of_other_hidden_units_is_refused(tiny, tmp_path):
    path = tmp_path / "old.safetensors"
    path.write_bytes(taught_bytes(tiny))
    head = tiny.scorer.head
    other = replace(tiny, scorer=replace(tiny.scorer, head=replace(head, hidden=head.hidden + 1)))
    with pytest.raises(InputError, match="older detector"):
        read_taught(path, other)


def test_an_export_whose_flags_were_corrected_is_a_lesson(tiny_session, tmp_path):
    found = find("My PIN is 4417. It rains, =1+1.", tiny_session).at(1.0)
    for form in ("csv", "jsonl"):
        path = tmp_path / f"lesson.{form}"
        lines = "".join(export(found.sentences, form))
        corrected = lines.replace("False", "True", 1).replace("false", "true", 1)
        path.write_text(corrected, encoding="utf-8", newline="")
        lesson = read_lesson(path)
        assert lesson.sensitive == ("My PIN is 4417.",)
        assert lesson.harmless == ("It rains, =1+1.",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,other\nx,1\n"),
        ("a.csv", "sensitive\nyes\n"),
        ("a.jsonl", "[1, 2]\n"),
        ("a.jsonl", '{"text": "x", "sensitive": "perhaps"}\n'),
        ("a.txt", "x\n"),
        ("a.jsonl", "".join(json.dumps({"text": f"{n}", "sensitive": "yes"}) + "\n" for n in range(501))),
    ],
)
def test_a_bad_lesson_is_a_sentence(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError):
        read_lesson(tmp_path / name)


def test_typed_lessons_are_a_sentence_a_line():
    lesson = typed(" one \n\n two", "")
    assert lesson.sensitive == ("one", "two")
    assert lesson.harmless == ()


def test_an_upload_is_read_in_its_own_encoding(tmp_path):
    for codec in ("utf-8", "utf-16", "cp1252"):
        (tmp_path / "a.txt").write_bytes("Das Passwort heißt Müller.\r\nEs regnet draußen.".encode(codec))
        assert read_text(tmp_path / "a.txt") == "Das Passwort heißt Müller.\nEs regnet draußen."
    (tmp_path / "a.txt").write_bytes(b"x" * (LONGEST_TEXT + 1))
    with pytest.raises(InputError, match="at most"):
        read_text(tmp_path / "a.txt")
