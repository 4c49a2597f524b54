"""Policies: which characters of a text are sensitive. The F of SMDP's Algorithm 1, over whole texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from core.errors import InputError
from core.sanitize.own_words import OwnWords
from core.sanitize.patterns import Patterns
from core.sanitize.spans import Span
from core.sanitize.words import NUMERALS, word_spans

__all__ = ["POLICIES", "AllWords", "Context", "Digits", "Either", "OwnWords", "Patterns", "Policy"]


class Policy(Protocol):
    """Anything that says which spans of a text are sensitive."""

    @property
    def name(self) -> str:
        """What the policy is called, in a word."""

    def spans(self, text: str) -> list[Span]:
        """The sensitive spans. Each word that a span touches is perturbed, whole."""


@dataclass(frozen=True)
class AllWords:
    """Every word: this is MDP."""

    name: ClassVar[str] = "all"

    def spans(self, text: str) -> list[Span]:
        """All words."""
        return [Span(start, end, "word") for start, end in word_spans(text)]


@dataclass(frozen=True)
class Digits:
    """Every word with a digit of any script in it: the policy of the thesis."""

    name: ClassVar[str] = "digits"

    def spans(self, text: str) -> list[Span]:
        """The digits; the words around them go with them."""
        return [Span(match.start(), match.end(), "digits") for match in NUMERALS.finditer(text)]


class Located(Protocol):
    """Anything with a start and an end: a detector's spans."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The character behind the last one."""


class Flags(Protocol):
    """A detector: `core.context.Detector` is one."""

    def flag(self, text: str) -> Sequence[Located]:
        """The stretches of a text whose context asks for a secret."""


@dataclass(frozen=True)
class Context:
    """Every word of the sentences that a detector flags, by their context and not by their format."""

    detector: Flags | Callable[[str], Iterable[Located]]
    name: ClassVar[str] = "context"

    def spans(self, text: str) -> list[Span]:
        """The flagged stretches."""
        found = self.detector(text) if callable(self.detector) else self.detector.flag(text)
        return [Span(span.start, span.end, "context") for span in found]


@dataclass(frozen=True)
class Either:
    """What any of several policies calls sensitive."""

    policies: tuple[Policy, ...]

    @property
    def name(self) -> str:
        """The names of the policies, with commas."""
        return ",".join(policy.name for policy in self.policies)

    def spans(self, text: str) -> list[Span]:
        """The spans of all policies; they may overlap."""
        return [span for policy in self.policies for span in policy.spans(text)]


POLICIES = ("all", "digits", "patterns", "own", "context")


def parse_policies(
    names: str | Sequence[str],
    *,
    own: Iterable[str] | OwnWords | None = None,
    detector: Flags | Callable[[str], Iterable[Located]] | None = None,
) -> Policy:
    """The policy for names such as `digits,patterns`; several are joined with `Either`.

    `own` are the words and regular expressions of the policy `own` (see `OwnWords.parse`); giving them
    turns it on. `context` needs a detector.
    """
    asked = [name.strip().lower() for name in (names.split(",") if isinstance(names, str) else names)]
    asked = list(dict.fromkeys(name for name in asked if name))
    if own is not None and "own" not in asked:
        asked.append("own")
    chosen = tuple(_policy(name, own, detector) for name in asked)
    if not chosen:
        raise InputError(f"Choose at least one policy: {', '.join(POLICIES)}.")
    return chosen[0] if len(chosen) == 1 else Either(chosen)


def _policy(
    name: str,
    own: Iterable[str] | OwnWords | None,
    detector: Flags | Callable[[str], Iterable[Located]] | None,
) -> Policy:
    if name == "own":
        if own is None:
            raise InputError("The policy 'own' needs words or regular expressions of your own.")
        return own if isinstance(own, OwnWords) else OwnWords.parse(own)
    if name == "context":
        if detector is None:
            raise InputError("The policy 'context' needs a context detector.")
        return Context(detector)
    simple: dict[str, type[AllWords] | type[Digits] | type[Patterns]] = {
        "all": AllWords,
        "digits": Digits,
        "patterns": Patterns,
    }
    if name not in simple:
        raise InputError(f"There is no policy called {name[:40]!r}; there are {', '.join(POLICIES)}.")
    return simple[name]()
