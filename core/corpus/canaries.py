"""Canaries: sentences with a random secret, planted in a copy of a corpus to measure what is remembered."""

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from core.corpus.documents import Corpus, Document
from core.errors import InputError

TEMPLATE = "The code for the # locker is {digits:4}."  # `#` is another word for every canary

MAX_CANDIDATES = 10**12
MAX_HOLE = 40
SOURCE = "canary"
_HOLE = re.compile(r"\{([^{}]*)\}")
WORDS = (
    "amber", "anchor", "badger", "basket", "candle", "canyon", "copper", "cradle",
    "desert", "dragon", "ember", "falcon", "feather", "forest", "garden", "ginger",
    "hammer", "harbour", "island", "jacket", "jungle", "kettle", "ladder", "lantern",
    "marble", "meadow", "mirror", "needle", "orchid", "oyster", "paddle", "pepper",
    "pocket", "quartz", "rabbit", "ribbon", "river", "saddle", "salmon", "shadow",
    "silver", "spider", "summer", "table", "temple", "thunder", "ticket", "timber",
    "tunnel", "turtle", "valley", "velvet", "violet", "walnut", "willow", "window",
    "winter", "wonder", "yellow", "zebra", "bottle", "bridge", "castle", "circus",
)  # fmt: skip


@dataclass(frozen=True)
class Canary:
    """A filled format: prefix, secret and suffix make the planted text; `index` is its candidate number."""

    prefix: str
    secret: str
    suffix: str
    index: int

    @property
    def text(self) -> str:
        """The sentence as it is planted."""
        return self.prefix + self.secret + self.suffix


@dataclass(frozen=True)
class CanaryFormat:
    """A sentence with typed holes, such as "My ID is {digits:6}." or "Say {words:3} at the door."

    A hole is `{digits:n}`, `{letters:n}` (capitals) or `{words:n}` (n words of the list, with spaces).
    """

    template: str
    words: tuple[str, ...] = WORDS

    def __post_init__(self) -> None:
        if not self._holes:
            raise InputError('A canary needs a hole for its secret, such as "My ID is {digits:6}."')
        if len(set(self.words)) != len(self.words) or len(self.words) < 2:
            raise InputError("The word list of a canary needs at least two words and no word twice.")
        if not self.prefix.strip():
            raise InputError("A canary needs words before its first hole, to be asked by.")
        if self.candidates > MAX_CANDIDATES:
            raise InputError(
                f"{self.candidates:,} candidates are too many to rank; "
                f"make the holes smaller, for at most {MAX_CANDIDATES:,}."
            )

    @cached_property
    def _holes(self) -> tuple[tuple[str, int], ...]:
        """Kind and length of each hole."""
        holes = []
        for inside in _HOLE.findall(self.template):
            kind, _, length = inside.partition(":")
            if kind not in ("digits", "letters", "words"):
                raise InputError(
                    f"'{{{inside}}}' is not a hole; use digits, letters or words, as in {{digits:6}}."
                )
            if not (length.isascii() and length.isdigit() and 1 <= int(length) <= MAX_HOLE):
                raise InputError(
                    f"'{{{inside}}}' needs a length between 1 and {MAX_HOLE}, as in {{{kind}:6}}."
                )
            holes.append((kind, int(length)))
        return tuple(holes)

    def _alphabet(self, kind: str) -> Sequence[str]:
        return {"digits": string.digits, "letters": string.ascii_uppercase}.get(kind, self.words)

    @property
    def prefix(self) -> str:
        """What stands before the first hole, without the space at its end: the question an attacker asks."""
        return _HOLE.split(self.template)[0].rstrip()

    @cached_property
    def candidates(self) -> int:
        """How many different secrets the format has."""
        count = 1
        for kind, length in self._holes:
            count *= len(self._alphabet(kind)) ** length
        return count

    @cached_property
    def choices(self) -> tuple[tuple[str, ...], ...]:
        """What may stand at each place of a secret, in reading order, each with the fixed text before it.

        A secret is one choice from every place; candidate numbers count the last place fastest.
        """
        pieces = _HOLE.split(self.template)[::2]
        before = [pieces[0][len(self.prefix) :], *pieces[1:-1]]
        places = []
        for fixed, (kind, length) in zip(before, self._holes, strict=True):
            between = " " if kind == "words" else ""
            for number in range(length):
                text = between if number else fixed
                places.append(tuple(text + symbol for symbol in self._alphabet(kind)))
        return tuple(places)

    def fill(self, index: int) -> Canary:
        """The candidate with this number; all numbers below `candidates` give different secrets."""
        if not 0 <= index < self.candidates:
            raise InputError(f"There is no candidate {index:,}; the format has {self.candidates:,}.")
        rest, filled = index, []
        for kind, length in reversed(self._holes):
            alphabet = self._alphabet(kind)
            symbols = []
            for _ in range(length):
                rest, symbol = divmod(rest, len(alphabet))
                symbols.append(alphabet[symbol])
            filled.append((" " if kind == "words" else "").join(reversed(symbols)))
        pieces = _HOLE.split(self.template)[::2]
        middle = "".join(
            piece + text for piece, text in zip(["", *pieces[1:-1]], reversed(filled), strict=True)
        )
        space = pieces[0][len(self.prefix) :]
        return Canary(self.prefix, space + middle, pieces[-1], index)

    def draw(self, rng: random.Random) -> Canary:
        """A uniformly random candidate."""
        return self.fill(rng.randrange(self.candidates))


def plant(
    corpus: Corpus,
    canaries: Sequence[Canary],
    *,
    copies: int,
    rng: random.Random,
    among: Literal["one", "spread"] = "one",
) -> Corpus:
    """A copy of the corpus with `copies` documents of each canary: all with one user, or spread."""
    users = corpus.users
    if copies < 1:
        raise InputError("A canary must be planted at least once.")
    if among == "spread" and copies > len(users):
        raise InputError(f"{copies} copies cannot be spread over {len(users)} users; plant fewer.")
    planted = list(corpus.documents)
    for canary in canaries:
        owners = rng.sample(users, copies) if among == "spread" else [rng.choice(users)] * copies
        for row, owner in enumerate(owners, start=1):
            document = Document(owner, canary.text, SOURCE, row)
            planted.insert(rng.randrange(len(planted) + 1), document)
    return replace(corpus, documents=tuple(planted))
