"""The report counts right, and finds what repeats over users and parts."""

import random

import pytest

from core.corpus import Corpus, Document, Dropped, partition_corpus, report_corpus, report_sentences
from core.corpus.duplicates import exact_duplicates, near_duplicates
from core.errors import InputError

KEY = bytes(range(32))
WORDS = [f"word{n}" for n in range(400)]


def _text(seed: int, length: int = 60) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def _corpus(pairs: list[tuple[str, str]], **more: object) -> Corpus:
    documents = tuple(Document(user, text, "a.csv", row) for row, (user, text) in enumerate(pairs, 1))
    return Corpus("notes", documents, **more)  # type: ignore[arg-type]


def test_figures_are_those_of_the_corpus() -> None:
    report = report_corpus(_corpus([("ann", "one two three"), ("ann", "four"), ("bo", "five six")]))
    assert (report.users, report.documents, report.tokens, report.unit) == (2, 3, 6, "words")
    assert report.characters == len("one two three") + len("four") + len("five six")
    assert (report.longest.row, report.longest_tokens) == (1, 3)
    assert (report.smallest_user.user, report.smallest_user.tokens) == ("bo", 2)
    assert (report.largest_user.user, report.largest_user.documents) == ("ann", 2)


def test_a_tokenizer_counts_when_it_is_given() -> None:
    report = report_corpus(_corpus([("ann", "abc"), ("bo", "defg")]), count_tokens=len)
    assert (report.tokens, report.unit) == (7, "tokens")
    assert "7 tokens" in report_sentences(report)[0]


def test_exact_duplicates_ignore_case_and_punctuation() -> None:
    groups = exact_duplicates(
        ["The code is 4481.", "the CODE is: 4481", "The code is 4482.", "!!!", "???"]
    ).groups
    assert groups == ((0, 1),)


def test_near_duplicates_are_found_and_others_are_not() -> None:
    texts = [_text(n) for n in range(300)]
    words = texts[7].split()
    words[30] = "changed"
    texts.append(" ".join(words))
    texts.append(" ".join(texts[9].split()[:50]))
    assert set(near_duplicates(texts).groups) == {(7, 300), (9, 301)}


def test_near_duplicates_agree_with_brute_force() -> None:
    rng = random.Random(5)
    texts = []
    for seed in range(12):
        base = _text(seed, 80).split()
        for changes in (0, 2, 8):
            copy = list(base)
            for place in rng.sample(range(80), changes):
                copy[place] = rng.choice(WORDS)
            texts.append(" ".join(copy))

    def runs(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}

    def alike(a: str, b: str) -> bool:
        return len(runs(a) & runs(b)) / len(runs(a) | runs(b)) >= 0.6

    pairs = {(i, j) for i in range(36) for j in range(i + 1, 36) if alike(texts[i], texts[j])}
    found = near_duplicates(texts).groups
    joined = {(i, j) for group in found for i in group for j in group if i < j}
    assert pairs
    assert joined == pairs


def test_many_copies_cost_linear_work() -> None:
    texts = [_text(1)] * 3_000
    assert near_duplicates(texts).groups == (tuple(range(3_000)),)


def test_short_and_wordless_texts_are_no_trouble() -> None:
    assert near_duplicates(["", "!!", "one", "one", "two words"]).groups == ((2, 3),)
    assert near_duplicates([]).groups == ()


def test_repetition_within_one_user_is_not_reported() -> None:
    report = report_corpus(_corpus([("ann", _text(1)), ("ann", _text(1)), ("bo", _text(2))]))
    assert (report.exact.groups, report.near.groups) == (0, 0)
    assert "No document repeats, exactly or nearly, over users." in report_sentences(report)


def test_a_secret_in_two_parts_is_reported_as_consensus() -> None:
    users = [f"u{n}" for n in range(40)]
    corpus = _corpus([(user, _text(n)) for n, user in enumerate(users)])
    partition = partition_corpus(corpus, 4, key=KEY)
    apart = next(user for user in users if partition.part_of(user) != partition.part_of("u0"))
    same = next(user for user in users[1:] if partition.part_of(user) == partition.part_of("u0"))
    for friend, crossing in ((apart, 1), (same, 0)):
        shared = _corpus([*((d.user, d.text) for d in corpus.documents), (friend, _text(0))])
        report = report_corpus(shared, partition=partition_corpus(shared, 4, key=KEY))
        assert (report.exact.groups, report.exact.part_groups) == (1, crossing)
        assert any("becomes consensus" in said for said in report_sentences(report)) == bool(crossing)
        assert sum(size.documents for size in report.parts) == 41


def test_what_was_dropped_and_ids_that_look_alike_are_said() -> None:
    dropped = (Dropped("no text", 12, ("row 3", "row 9")),)
    corpus = _corpus([("Ann-Lee", _text(1)), ("annlee", _text(2)), ("bo", _text(3))], dropped=dropped)
    said = report_sentences(report_corpus(corpus))
    assert "Dropped 12: no text (row 3, row 9, ...)." in said
    assert any("Ann-Lee, annlee" in sentence for sentence in said)


def test_a_partial_comparison_is_said() -> None:
    corpus = _corpus([(f"u{n}", _text(n)) for n in range(20)])
    report = report_corpus(corpus, compared=5)
    assert report.compared == 5
    assert any("first 5 documents" in said for said in report_sentences(report))


def test_a_partition_of_another_corpus_is_refused() -> None:
    corpus = _corpus([(f"u{n}", _text(n)) for n in range(20)])
    other = partition_corpus(_corpus([(f"u{n}", "x") for n in range(20)]), 2, key=KEY)
    with pytest.raises(InputError, match="another corpus"):
        report_corpus(corpus, partition=other)
    with pytest.raises(InputError, match="no documents"):
        report_corpus(Corpus("none", ()))
