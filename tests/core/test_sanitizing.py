"""Sanitising by names and numbers, as the page and the API ask for it."""

import numpy as np
import pytest

from core.errors import InputError
from core.sanitize import AllWords
from core.sanitizing import Asked, Sanitizer, check_text
from core.settings import Settings

WORDS = ["room", "bed", "nurse", "tea", "1", "2", "7", "12", "31", "2019"]


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory) -> Sanitizer:
    folder = tmp_path_factory.mktemp("vectors")
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8))
    lines = [" ".join([word, *map(str, vector)]) for word, vector in zip(WORDS, vectors, strict=True)]
    (folder / "small.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Sanitizer(Settings(_env_file=None, data_dir=folder, vectors=str(folder / "small.txt")))


def test_every_word_goes_before_any_other_policy(sanitizer):
    assert isinstance(sanitizer.policy(("digits", "all")), AllWords)


def test_own_words_count_only_where_they_are_asked_for(sanitizer):
    asked = Asked(1.0, ("digits",), own="nurse")
    assert sanitizer.sanitize("The nurse, bed 12", asked).perturbed == 1
    assert sanitizer.sanitize("The nurse, bed 12", Asked(1.0, ("digits", "own"), own="nurse")).perturbed == 2


@pytest.mark.parametrize("noise", ["euclidean", "mahalanobis", "tem"])
def test_a_word_stays_itself_more_often_the_larger_epsilon(sanitizer, noise):
    chances = [sanitizer.stays(noise, epsilon) for epsilon in (0.1, 2.0, 20.0)]
    assert [stays.words for stays in chances] == sorted(stays.words for stays in chances)
    assert [stays.numbers for stays in chances] == sorted(stays.numbers for stays in chances)
    assert chances[-1].words > 0.9


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no text"),
        (" \n", "no text"),
        ("x" * 20_001, "20,001 characters"),
        ("a\0b", "position 2"),
        ("a\ud800", "position 2"),
        (None, "no text"),
    ],
)
def test_a_text_that_cannot_be_taken_gets_a_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence):
        check_text(text)
