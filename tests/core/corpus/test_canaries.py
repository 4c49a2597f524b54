"""Canaries: typed holes, uniform draws, planting."""

import random
from collections import Counter

import pytest

from core.corpus import CanaryFormat, Corpus, Document, plant
from core.errors import InputError

CORPUS = Corpus("notes", tuple(Document(f"u{n}", f"note {n}", "a.csv", n + 1) for n in range(20)))


def test_candidates_are_all_different_and_fill_the_format() -> None:
    form = CanaryFormat("The code of {letters:1} is {digits:2}, say {words:1}.", words=("red", "blue"))
    assert form.candidates == 26 * 100 * 2
    filled = [form.fill(index) for index in range(form.candidates)]
    assert len({canary.text for canary in filled}) == form.candidates
    assert filled[0].text == "The code of A is 00, say red."
    assert filled[-1].text == "The code of Z is 99, say blue."
    assert all(canary.prefix == form.prefix == "The code of" for canary in filled)
    assert all(canary.prefix + canary.secret + canary.suffix == canary.text for canary in filled)


def test_a_draw_is_uniform_and_repeats_with_its_seed() -> None:
    form = CanaryFormat("My ID is {digits:1}.")
    rng = random.Random(3)
    counts = Counter(form.draw(rng).secret for _ in range(5_000))
    assert len(counts) == 10
    assert max(abs(count - 500) for count in counts.values()) < 5 * 500**0.5
    six = CanaryFormat("My ID is {digits:6}.")
    assert six.draw(random.Random(4)) == six.draw(random.Random(4))
    assert six.draw(random.Random(4)) != six.draw(random.Random(5))


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("My ID is secret.", "needs a hole"),
        ("My ID is {digits:13}.", "too many"),
        ("My ID is {words:7}.", "too many"),
        ("My ID is {numbers:3}.", "not a hole"),
        ("My ID is {digits}.", "length"),
        ("My ID is {digits:0}.", "length"),
        ("My ID is {digits:99999999}.", "length"),
        ("My ID is {digits:²}.", "length"),
        ("{digits:3} is mine.", "before its first hole"),
    ],
)
def test_formats_that_cannot_work_say_why(template: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        CanaryFormat(template)


def test_ten_to_the_twelve_is_just_allowed() -> None:
    form = CanaryFormat("My ID is {digits:12}.")
    assert form.fill(10**12 - 1).text == "My ID is 999999999999."
    with pytest.raises(InputError, match="no candidate"):
        form.fill(10**12)


def test_word_lists_need_two_different_words() -> None:
    with pytest.raises(InputError, match="word list"):
        CanaryFormat("Say {words:2}.", words=("red", "red"))


@pytest.mark.parametrize(("among", "owners"), [("one", 1), ("spread", 5)])
def test_planting_adds_copies_with_one_user_or_spread(among: str, owners: int) -> None:
    form = CanaryFormat("My ID is {digits:6}.")
    canaries = [form.fill(1), form.fill(2)]
    planted = plant(CORPUS, canaries, copies=5, rng=random.Random(1), among=among)  # type: ignore[arg-type]
    assert len(CORPUS.documents) == 20
    assert len(planted.documents) == 30
    assert set(planted.users) == set(CORPUS.users)
    for canary in canaries:
        holders = [document.user for document in planted.documents if document.text == canary.text]
        assert len(holders) == 5
        assert len(set(holders)) == owners
    kept = [document for document in planted.documents if document.source != "canary"]
    assert tuple(kept) == CORPUS.documents


def test_planting_that_cannot_be_done_is_refused() -> None:
    canary = CanaryFormat("My ID is {digits:6}.").fill(0)
    with pytest.raises(InputError, match="at least once"):
        plant(CORPUS, [canary], copies=0, rng=random.Random(1))
    with pytest.raises(InputError, match="20 users"):
        plant(CORPUS, [canary], copies=21, rng=random.Random(1), among="spread")
