"""Who goes where: properties that the guarantee needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpus import Corpus, Document, largest_k, new_key, partition_corpus
from core.errors import InputError

KEY = bytes(range(32))
PINNED_PARTS = [1, 2, 3, 1, 1, 2, 0, 0, 2, 2, 3, 0]
PINNED_HALVES = [0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1]
PINNED_FINGERPRINT = "5ab8c392c2c54035"
ids = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=60)


def _corpus(users: list[str], name: str = "notes") -> Corpus:
    return Corpus(name, tuple(Document(user, f"note {i}", "a.csv", i + 1) for i, user in enumerate(users)))


@settings(max_examples=200, deadline=None)
@given(ids, st.integers(2, 12), st.booleans(), st.binary(min_size=16, max_size=40))
def test_every_document_lies_in_one_place_with_its_user(
    users: list[str], k: int, halves: bool, key: bytes
) -> None:
    corpus = _corpus(users)
    try:
        partition = partition_corpus(corpus, k, key=key, halves=halves)
    except InputError:
        best = largest_k(corpus, key=key, halves=halves)
        assert best is None or best != k
        return
    places = [(part, half) for part in range(k) for half in ((0, 1) if halves else (None,))]
    held = [(place, document) for place in places for document in partition.documents(*place)]
    assert sorted(document.row for _, document in held) == list(range(1, len(users) + 1))
    of_user: dict[str, set[object]] = {}
    for place, document in held:
        of_user.setdefault(document.user, set()).add(place)
        assert partition.part_of(document.user) == place[0]
        assert place[1] is None or partition.half_of(document.user) == place[1]
    assert all(len(where) == 1 for where in of_user.values())
    assert all(partition.documents(*place) for place in places)
    assert all(size.users > 0 for size in partition.sizes)


@settings(max_examples=100, deadline=None)
@given(ids, ids, st.integers(2, 6))
def test_a_place_depends_neither_on_others_nor_on_text(users: list[str], others: list[str], k: int) -> None:
    alone, together = _corpus([*users, "x1", "x2"]), _corpus([*others, *users, "x1", "x2"])
    try:
        first, second = (partition_corpus(each, k, key=KEY, halves=False) for each in (alone, together))
    except InputError:
        return
    assert all(first.part_of(user) == second.part_of(user) for user in users)
    assert all(first.half_of(user) == second.half_of(user) for user in users)


def test_another_key_is_another_partition() -> None:
    corpus = _corpus([f"u{n}" for n in range(200)])
    first, second = partition_corpus(corpus, 8, key=KEY), partition_corpus(corpus, 8, key=new_key())
    assert first.fingerprint != second.fingerprint
    assert sum(first.part_of(user) == second.part_of(user) for user in corpus.users) < 80
    assert KEY.hex() not in repr(first)
    assert repr(KEY) not in repr(first)


def test_parts_and_halves_are_even_and_independent() -> None:
    corpus = _corpus([f"user {n}" for n in range(16_000)])
    partition = partition_corpus(corpus, 8, key=KEY, halves=True)
    for size in partition.sizes:  # 1,000 expected; five standard deviations
        assert abs(size.users - 1000) < 5 * 1000**0.5


def test_places_are_pinned_for_ever() -> None:
    """A change here would move users between parts of ensembles that are already trained."""
    partition = partition_corpus(_corpus([f"u{n}" for n in range(50)]), 4, key=KEY, halves=True)
    assert [partition.part_of(f"u{n}") for n in range(12)] == PINNED_PARTS
    assert [partition.half_of(f"u{n}") for n in range(12)] == PINNED_HALVES
    assert partition.fingerprint == PINNED_FINGERPRINT


@pytest.mark.parametrize("halves", [False, True])
def test_too_many_parts_are_refused_with_the_largest_number_that_works(halves: bool) -> None:
    corpus = _corpus([f"u{n}" for n in range(30)])
    best = largest_k(corpus, key=KEY, halves=halves, below=25)
    assert best is not None
    partition_corpus(corpus, best, key=KEY, halves=halves)
    for k in range(best + 1, 25):
        with pytest.raises(InputError, match=rf"; {best} is the largest smaller number that works"):
            partition_corpus(corpus, k, key=KEY, halves=halves)


def test_one_part_is_refused_with_a_reason() -> None:
    with pytest.raises(InputError, match="One part gives no protection"):
        partition_corpus(_corpus(["a", "b"]), 1, key=KEY)


@pytest.mark.parametrize("k", [0, -3, 10_000])
def test_absurd_numbers_of_parts_are_refused(k: int) -> None:
    with pytest.raises(InputError, match="between 2 and 4,096"):
        partition_corpus(_corpus(["a", "b"]), k, key=KEY)


def test_one_user_is_refused_and_told_what_to_do() -> None:
    with pytest.raises(InputError, match=r"one user only.*name the column"):
        partition_corpus(_corpus(["a", "a", "a"]), 2, key=KEY)


def test_no_number_works_when_all_fall_together() -> None:
    users = ["a", "b"]
    key = next(bytes([n]) * 16 for n in range(256) if largest_k(_corpus(users), key=bytes([n]) * 16) is None)
    with pytest.raises(InputError, match="no smaller number works"):
        partition_corpus(_corpus(users), 2, key=key)


def test_short_keys_and_wrong_places_are_refused() -> None:
    with pytest.raises(InputError, match="16 bytes"):
        partition_corpus(_corpus(["a", "b"]), 2, key=b"short")
    partition = partition_corpus(_corpus([f"u{n}" for n in range(20)]), 2, key=KEY)
    for part, half in ((2, None), (-1, None), (0, 0)):
        with pytest.raises(InputError, match="no part"):
            partition.documents(part, half)
