"""The advice on parts: from counts alone, and never one that cannot be trained."""

import pytest

from core.corpus import Corpus, Document, partition_corpus
from core.curator.estimate import count_tokens, expected_seconds
from core.curator.guidance import MOST_ADVISED, guide, relative_cost
from core.errors import InputError
from core.privacy.strict import strict_loss
from tests.core.curator.texts import plan

KEY = b"k" * 32


def corpus(users: int, words: int, word: str = "soup") -> Corpus:
    text = " ".join([word] * words)
    return Corpus("ward", tuple(Document(f"user-{n}", text, "f", n) for n in range(users)))


@pytest.mark.parametrize(("users", "words", "suggested"), [(400, 1_000, 32), (200, 250, 8), (40, 10, 2)])
def test_parts_are_advised_as_long_as_each_has_words_enough(users, words, suggested):
    guidance = guide(corpus(users, words), key=KEY)
    assert guidance.suggested == suggested <= MOST_ADVISED
    assert (guidance.users, guidance.words) == (users, users * words)
    assert str(guidance.suggested) in guidance.advice


def test_every_choice_can_be_trained_and_its_ranges_are_those_of_the_split():
    text = corpus(90, 50)
    guidance = guide(text, key=KEY)
    for choice in guidance.choices:
        sizes = partition_corpus(text, choice.parts, key=KEY).sizes
        assert choice.users == (min(s.users for s in sizes), max(s.users for s in sizes))
        assert choice.words == (choice.users[0] * 50, choice.users[1] * 50)
    assert guidance.choices[-1].parts == guidance.largest


def test_the_advice_does_not_look_at_what_is_said():
    first, second = guide(corpus(60, 100, "soup"), key=KEY), guide(corpus(60, 100, "tea!"), key=KEY)
    assert first == second


def test_the_relative_cost_is_that_of_strict_at_small_weights():
    public, part = [0.7, 0.3], [0.6, 0.4]
    for k in (2, 16, 64):
        losses = [strict_loss(part, public, 1e-3, parts, 0.5, 2.0) for parts in (k, 8)]
        assert losses[0] / losses[1] == pytest.approx(relative_cost(k, 0.5), rel=1e-3)


def test_one_user_cannot_be_split_and_is_told_why():
    with pytest.raises(InputError, match="one user only"):
        guide(corpus(1, 50), key=KEY)


def test_halves_need_somebody_in_each():
    assert guide(corpus(90, 50), key=KEY, halves=True).largest < guide(corpus(90, 50), key=KEY).largest


def test_time_grows_with_the_text_and_the_passes(studio):
    public = studio.public()
    text = corpus(30, 40)
    tokens = count_tokens(public, text)
    exact = sum(len(public.tokenizer(d.text).input_ids) for d in text.documents)
    assert tokens == pytest.approx(exact, rel=0.05)
    short = expected_seconds(public, plan(), tokens)
    assert short > 0.0
    assert expected_seconds(public, plan(), 10 * tokens) > 5 * short
