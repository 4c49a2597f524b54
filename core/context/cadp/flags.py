"""Which sequences are flagged: by context, by format, all, or none. A flag depends on its sequence alone."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

Mechanism = Literal["cadp", "s-dpsgd", "dp-sgd", "none"]
MECHANISMS: tuple[Mechanism, ...] = ("cadp", "s-dpsgd", "dp-sgd", "none")
Formats = Literal["digits", "patterns"]
_DIGIT = re.compile(r"\d")


class Flagger(Protocol):
    """Decides for each sequence by itself whether it is sensitive."""

    name: str

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """One flag for each sequence, in the given order."""


class Passages(Protocol):
    """What is needed of the context detector."""

    @property
    def threshold(self) -> float:
        """From which score on a text is flagged."""

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """The highest score among the sentences of each text."""


class EveryFlag:
    """Flags all sequences: CADP with it is DP-SGD."""

    name = "every sequence"

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """True for each."""
        return [True] * len(sequences)


class NoFlag:
    """Flags no sequence: without noise, CADP with it is plain training."""

    name = "no sequence"

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """False for each."""
        return [False] * len(sequences)


class ContextFlags:
    """Flags a sequence when the detector finds a sensitive context in one of its sentences: CADP."""

    def __init__(self, detector: Passages) -> None:
        self._detector = detector
        self.name = f"context detector, threshold {detector.threshold:.3g}"

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """True where the highest score among the sentences reaches the threshold."""
        scores = self._detector.passages(list(sequences))
        return [bool(score >= self._detector.threshold) for score in scores]


class FormatFlags:
    """Flags a sequence by the format of what it holds, whatever its context: S-DPSGD.

    `digits` takes any digit for a secret, as Shi et al. (2022) do on WikiText-2; `patterns` are those of
    Presidio's recognisers. Shi et al. protect the tokens, this protects their whole sequence.
    """

    def __init__(self, formats: Formats = "digits") -> None:
        if formats not in ("digits", "patterns"):
            raise InputError(f"Formats are 'digits' or 'patterns' (it is {formats!r}).")
        self._formats = formats
        self.name = "any digit" if formats == "digits" else "Presidio's patterns"

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """True where the format is found."""
        if self._formats == "digits":
            return [_DIGIT.search(text) is not None for text in sequences]
        from core.sanitize.patterns import Patterns

        policy = Patterns()
        return [bool(policy.spans(text)) for text in sequences]


class KeptFlags:
    """The flags that a training began with, when it goes on."""

    def __init__(self, name: str, kept: Sequence[bool]) -> None:
        self.name, self._kept = name, list(kept)

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """The flags as they were; other sequences than those they were given to have none."""
        if len(sequences) != len(self._kept):
            raise InputError("The text is cut into other sequences now: discard the training.")
        return list(self._kept)


class NotedFlags:
    """Another's flags, told to `note` once they are there."""

    def __init__(self, flagger: Flagger, note: Callable[[list[bool]], None]) -> None:
        self.name, self._flagger, self._note = flagger.name, flagger, note

    def flags(self, sequences: Sequence[str]) -> list[bool]:
        """The other's flags."""
        found = self._flagger.flags(sequences)
        self._note(found)
        return found


def flagger_for(
    mechanism: Mechanism, detector: Passages | None = None, formats: Formats = "digits"
) -> Flagger:
    """The flags that make the mechanism what it is."""
    if mechanism == "cadp":
        if detector is None:
            raise InputError("CADP needs a context detector.")
        return ContextFlags(detector)
    if mechanism == "s-dpsgd":
        return FormatFlags(formats)
    if mechanism == "dp-sgd":
        return EveryFlag()
    if mechanism == "none":
        return NoFlag()
    raise InputError(f"The mechanism is one of {', '.join(MECHANISMS)} (it is {mechanism!r}).")
