"""Sanitising one text: cut it, ask the policy, perturb what is sensitive, put it together again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from core.errors import InputError
from core.sanitize.mechanism import Mechanism, Replacement
from core.sanitize.noise import fresh_generator
from core.sanitize.policy import Policy
from core.sanitize.units import Unit, find_units
from core.sanitize.words import normal_form, word_spans

State = Literal["plain", "kept", "replaced", "oov"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the source, source[start:end], and what stands for it in the output.

    `plain` was not sensitive and is unchanged. `kept` was perturbed and came back by the mechanism's own
    chance (in the vocabulary's spelling), `replaced` became another word, `oov` lies outside the
    vocabulary and became a uniform public draw. The last three have a reason, and but for oov a distance.
    """

    start: int
    end: int
    source: str
    output: str
    state: State
    reason: str = ""
    distance: float | None = None


@dataclass(frozen=True)
class Sanitized:
    """A sanitised text as pieces that cover the source. `text` is what to hand on, and nothing else.

    `words` counts all words of the source; `draws` the independent draws, each of which costs epsilon.
    """

    pieces: tuple[Piece, ...]
    words: int
    draws: int
    epsilon: float
    mechanism: str
    policy: str
    consistent: bool

    @cached_property
    def text(self) -> str:
        """The output."""
        return "".join(piece.output for piece in self.pieces)

    @cached_property
    def source(self) -> str:
        """The text that was given."""
        return "".join(piece.source for piece in self.pieces)

    @property
    def sensitive(self) -> int:
        """Words and whole spans that the policy called sensitive."""
        return sum(piece.state != "plain" for piece in self.pieces)

    @property
    def perturbed(self) -> int:
        """The same number: everything sensitive is perturbed."""
        return self.sensitive

    @property
    def kept_by_chance(self) -> int:
        """Perturbed words that came back as themselves."""
        return self._count("kept")

    @property
    def replaced(self) -> int:
        """Perturbed words of the vocabulary that became another one."""
        return self._count("replaced")

    @property
    def out_of_vocabulary(self) -> int:
        """Sensitive words outside the vocabulary, which became uniform draws."""
        return self._count("oov")

    def _count(self, state: State) -> int:
        return sum(piece.state == state for piece in self.pieces)


Memory = dict[str, Replacement]  # the draws of one document in consistent mode, by normal form
_AT_ONCE = 2048  # draws between two words about how far it is: a second or two on a slow machine


def sanitize(
    text: str,
    mechanism: Mechanism,
    policy: Policy,
    *,
    consistent: bool = False,
    rng: np.random.Generator | None = None,
) -> Sanitized:
    """Perturb what the policy calls sensitive; the rest is given back character for character.

    MDP is the policy `AllWords`, SMDP any other. Every call draws anew, and running it again on the same
    text composes: two outputs tell more than one. With `consistent`, equal words (but for case) of this
    text share one draw, which is charged once: the output then shows which words were equal.

    `rng` is for experiments; without it the generator is seeded by the operating system.
    """
    if not text.strip():
        raise InputError("There is no text to sanitise.")
    words = word_spans(text)
    units = find_units(text, words, policy.spans(text))
    memories: list[Memory] | None = [{}] if consistent else None
    pieces = perturb([(text, units)], mechanism, rng or fresh_generator(), memories)[0]
    return Sanitized(
        pieces=tuple(pieces),
        words=len(words),
        draws=len(units) if memories is None else len(memories[0]),
        epsilon=mechanism.epsilon,
        mechanism=mechanism.name,
        policy=policy.name,
        consistent=consistent,
    )


def perturb(
    texts: Sequence[tuple[str, Sequence[Unit]]],
    mechanism: Mechanism,
    rng: np.random.Generator,
    memories: Sequence[Memory] | None = None,
    told: Callable[[float], None] | None = None,
) -> list[list[Piece]]:
    """The pieces of each text with its units replaced; the mechanism draws for all texts together.

    `memories`, one for each text, turn consistent mode on: a word that is in the memory of its text is
    not drawn again. Texts of one document share a memory. `told` hears the share that is drawn.
    """
    sources = [[text[unit.start : unit.end] for unit in units] for text, units in texts]
    if memories is None:
        drawn = _drawn([word for words in sources for word in words], mechanism, rng, told)
        return [list(_pieces(text, units, [next(drawn) for _ in units])) for text, units in texts]
    keys = [[normal_form(word) for word in words] for words in sources]
    new: dict[tuple[int, str], tuple[Memory, str, str]] = {}
    for memory, forms, words in zip(memories, keys, sources, strict=True):
        for form, word in zip(forms, words, strict=True):
            if form not in memory:
                new.setdefault((id(memory), form), (memory, form, word))
    drawn = _drawn([word for _, _, word in new.values()], mechanism, rng, told)
    for (memory, form, _), replacement in zip(new.values(), drawn, strict=True):
        memory[form] = replacement
    return [
        list(_pieces(text, units, [memory[form] for form in forms]))
        for (text, units), memory, forms in zip(texts, memories, keys, strict=True)
    ]


def _drawn(
    words: Sequence[str],
    mechanism: Mechanism,
    rng: np.random.Generator,
    told: Callable[[float], None] | None,
) -> Iterator[Replacement]:
    for start in range(0, len(words), _AT_ONCE):
        yield from mechanism.replace(words[start : start + _AT_ONCE], rng)
        if told is not None:
            told(min(1.0, (start + _AT_ONCE) / len(words)))


def _pieces(text: str, units: Sequence[Unit], replacements: Sequence[Replacement]) -> Iterator[Piece]:
    at = 0
    for unit, replacement in zip(units, replacements, strict=True):
        if at < unit.start:
            yield _plain(text, at, unit.start)
        state: State = "oov" if replacement.out_of_vocabulary else "kept" if replacement.kept else "replaced"
        source = text[unit.start : unit.end]
        yield Piece(
            unit.start, unit.end, source, replacement.output, state, unit.reason, replacement.distance
        )
        at = unit.end
    if at < len(text):
        yield _plain(text, at, len(text))


def _plain(text: str, start: int, end: int) -> Piece:
    return Piece(start, end, text[start:end], text[start:end], "plain")
