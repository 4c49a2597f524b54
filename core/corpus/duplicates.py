"""Documents that say the same: exactly, or nearly by MinHash over runs of words."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.uint64]

SHINGLE = 4  # words in a run
PERMUTATIONS = 64
ROWS = 4  # of a band: two documents of similarity s meet in one of 16 bands with chance 1 - (1 - s^4)^16
SIMILAR = 0.6  # Jaccard similarity of the runs from which two documents are near-duplicates
_BLOCK = 4096
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Groups:
    """Groups of documents, by their positions; each group has at least two."""

    groups: tuple[tuple[int, ...], ...]

    def spanning(self, place_of: Callable[[int], object]) -> "Groups":
        """Only the groups whose documents lie in more than one place (user, part)."""
        return Groups(tuple(group for group in self.groups if len({place_of(i) for i in group}) > 1))

    @property
    def documents(self) -> int:
        """How many documents are in a group."""
        return sum(map(len, self.groups))


def exact_duplicates(texts: Sequence[str]) -> Groups:
    """Texts that are equal but for case, punctuation and space."""
    seen: dict[bytes, list[int]] = {}
    for index, text in enumerate(texts):
        words = " ".join(_WORD.findall(text.casefold())) or text
        seen.setdefault(hashlib.blake2b(words.encode(), digest_size=16).digest(), []).append(index)
    return Groups(tuple(tuple(group) for group in seen.values() if len(group) > 1))


def near_duplicates(texts: Sequence[str], *, similar: float = SIMILAR) -> Groups:
    """Texts that share most of their runs of words, exact duplicates included, joined into groups.

    Candidates meet in a band of their MinHash signatures; each is then compared with the first
    document of its band by the exact Jaccard similarity, so the work grows with the documents
    and not with their pairs.
    """
    vocabulary: dict[str, int] = {}
    runs = [_runs(text, vocabulary) for text in texts]
    signatures = _signatures(runs)
    leader = list(range(len(texts)))
    for start in range(0, PERMUTATIONS, ROWS):
        first: dict[bytes, int] = {}
        band = np.ascontiguousarray(signatures[:, start : start + ROWS])
        for index, row in enumerate(band):
            if runs[index].size == 0:
                continue
            other = first.setdefault(row.tobytes(), index)
            a, b = _root(leader, other), _root(leader, index)
            if a != b and _jaccard(runs[other], runs[index]) >= similar:
                leader[max(a, b)] = min(a, b)
    return _collect(_root(leader, index) for index in range(len(texts)))


def _runs(text: str, vocabulary: dict[str, int]) -> Integers:
    """Hashes of the text's runs of SHINGLE words, sorted and without repetition."""
    words = _WORD.findall(text.casefold())
    numbers = [vocabulary.setdefault(word, len(vocabulary) + 1) for word in words]
    ids = np.asarray(numbers, dtype=np.uint64)
    count = max(1, ids.size - SHINGLE + 1) if ids.size else 0
    hashed = np.zeros(count, dtype=np.uint64)
    for offset in range(min(SHINGLE, ids.size)):
        hashed = _mix(hashed * np.uint64(0x100000001B3) + ids[offset : offset + count])
    return np.unique(hashed)


def _mix(values: Integers) -> Integers:
    """The finaliser of SplitMix64: every input bit moves every output bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _signatures(runs: Sequence[Integers]) -> Integers:
    """MinHash signatures, one row a document; permutations are fixed odd multipliers."""
    multipliers = _mix(np.arange(1, PERMUTATIONS + 1, dtype=np.uint64)) | np.uint64(1)
    rows = np.full((len(runs), PERMUTATIONS), np.iinfo(np.uint64).max, dtype=np.uint64)
    for index, hashed in enumerate(runs):
        for start in range(0, hashed.size, _BLOCK):
            block = hashed[start : start + _BLOCK, None] * multipliers
            rows[index] = np.minimum(rows[index], (block ^ (block >> np.uint64(29))).min(axis=0))
    return rows


def _jaccard(a: Integers, b: Integers) -> float:
    """Shared runs over all runs."""
    shared = np.intersect1d(a, b, assume_unique=True).size
    return float(shared / (a.size + b.size - shared))


def _root(leader: list[int], index: int) -> int:
    """The leader of a document's group, with the path halved on the way."""
    while leader[index] != index:
        leader[index] = leader[leader[index]]
        index = leader[index]
    return index


def _collect(roots: Iterable[int]) -> Groups:
    """Positions with the same root, where there are at least two."""
    groups: dict[int, list[int]] = {}
    for index, root in enumerate(roots):
        groups.setdefault(root, []).append(index)
    return Groups(tuple(tuple(group) for group in groups.values() if len(group) > 1))
