"""The written families: sentences of one kind, sensitive or harmless, and their split by family.

A file holds families: `## name`, then one sentence a line. `before || sentence` gives a sentence and the one
before it. A family lives in one split as a whole, by a hash of its name, so that no paraphrase and no
neighbour of a test sentence was ever trained on.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from core.context.learning.slots import fill, slots
from core.errors import InputError

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "detector" / "families"
Split = Literal["train", "test"]


@dataclass(frozen=True)
class Example:
    """One sentence with the sentence before it (empty where there is none) and its label."""

    text: str
    sensitive: bool
    family: str
    before: str = ""


@dataclass(frozen=True)
class Family:
    """Sentences of one kind, as they were written: with slots."""

    name: str
    sensitive: bool
    lines: tuple[str, ...]

    @property
    def split(self) -> Split:
        """One family in five is held out for the test, by its name; the paper's examples always are."""
        if self.name.startswith("paper"):
            return "test"
        return "test" if sha256(self.name.encode()).digest()[0] % 5 == 0 else "train"

    @property
    def calibrates(self) -> bool:
        """Whether a training family is kept from the second look, to learn how it goes with the first."""
        return sha256(f"dev{self.name}".encode()).digest()[0] % 5 == 0

    def examples(self, *, fillings: int = 1, seed: int = 0) -> Iterator[Example]:
        """Each line as one sentence, or as several where it has slots to fill in different ways."""
        for line in self.lines:
            draw = random.Random(f"{seed}/{self.name}/{line}")
            for _ in range(fillings if slots(line) else 1):
                before, bar, text = fill(line, draw).partition(" || ")
                yield (
                    Example(text, self.sensitive, self.name, before)
                    if bar
                    else Example(before, self.sensitive, self.name)
                )


@lru_cache(maxsize=4)
def load_families(folder: Path = FOLDER) -> tuple[Family, ...]:
    """All families, sensitive ones first, in the order of their files."""
    found = [
        family
        for kind in ("sensitive", "harmless")
        for path in sorted((folder / kind).glob("*.txt"))
        for family in _read(path, sensitive=kind == "sensitive")
    ]
    names = [family.name for family in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"Two families have the same name: {', '.join(sorted(twice))}.")
    return tuple(found)


def _read(path: Path, *, sensitive: bool) -> Iterator[Family]:
    for block in path.read_text(encoding="utf-8").split("## ")[1:]:
        name, *lines = block.strip().splitlines()
        yield Family(name, sensitive, tuple(line for line in lines if line.strip()))
