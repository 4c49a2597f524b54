"""Sanitising as the ways in ask for it: by names and numbers, with the public parts loaded once."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

from core.errors import InputError
from core.sanitize import (
    AllWords,
    Mechanism,
    Policy,
    Sanitized,
    StayCurve,
    Vocabulary,
    load_vocabulary,
    make_mechanism,
    parse_policies,
    sanitize,
)
from core.sanitize.policy import Flags
from core.settings import Settings

MDP, SMDP = "mdp", "smdp"
LONGEST_TEXT = 20_000  # characters at once; files are streamed and may be longer
_NUMBERS = 24  # numbers that stand for all numbers in what an epsilon means


@dataclass(frozen=True)
class Asked:
    """What is asked for: which words, and how they are perturbed. `own` has one entry a line."""

    epsilon: float
    policies: tuple[str, ...] = ("digits",)
    own: str = ""
    noise: str = "euclidean"
    consistent: bool = False
    detector: Flags | None = None  # for the policy `context`; the shipped one where there is none


@dataclass(frozen=True)
class Stays:
    """The chance that a common word, and that a number, stays itself."""

    words: float
    numbers: float


class Sanitizer:
    """The vocabulary, what an epsilon means for it, and the detector: public things, none of them text."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._curves: dict[str, tuple[StayCurve, StayCurve]] = {}

    @property
    def vocabulary(self) -> Vocabulary:
        """The public words and vectors; the first caller loads them."""
        return load_vocabulary(self._settings.vectors, self._settings)

    @cached_property
    def has_detector(self) -> bool:
        """Whether there is a context detector to ask."""
        if find_spec("core.context.saved") is None:
            return False
        from core.context.saved import HEAD

        return HEAD.is_dir()

    def mechanism(self, noise: str, epsilon: float) -> Mechanism:
        """The mechanism of that name over the vocabulary."""
        return make_mechanism(noise, self.vocabulary, epsilon)

    def policy(self, names: Sequence[str], own: str = "", detector: Flags | None = None) -> Policy:
        """What these policies call sensitive together; `all` is every word, whatever stands beside it."""
        if "all" in names:
            return AllWords()
        if "context" in names and detector is None:
            from core.context.detector import Detector

            detector = Detector.load(self._settings)
        return parse_policies(names, own=own.splitlines() if "own" in names else None, detector=detector)

    def sanitize(self, text: str, asked: Asked) -> Sanitized:
        """Perturb a text as asked. Every call draws anew, and nothing is kept."""
        check_text(text)
        policy = self.policy(asked.policies, asked.own, asked.detector)
        mechanism = self.mechanism(asked.noise, asked.epsilon)
        return sanitize(text, mechanism, policy, consistent=asked.consistent)

    def stays(self, noise: str, epsilon: float) -> Stays:
        """What an epsilon means; the first question about a noise takes seconds, the next ones none."""
        words, numbers = self._curve(noise)
        return Stays(words.stays(epsilon)[0], numbers.stays(epsilon)[0])

    def _curve(self, noise: str) -> tuple[StayCurve, StayCurve]:
        with self._lock:
            if noise not in self._curves:
                vocabulary = self.vocabulary
                common = [vocabulary.words[at] for at in vocabulary.plain_numbers[:_NUMBERS].tolist()]
                curves = StayCurve(noise, vocabulary), StayCurve(noise, vocabulary, words=common)
                for curve in curves:
                    curve.stays(1.0)  # the pass over the vocabulary, made here under the lock
                self._curves[noise] = curves
            return self._curves[noise]


def check_text(text: str) -> None:
    """Refuse what cannot be sanitised on a page or over the API, in a sentence."""
    if not isinstance(text, str) or not text.strip():
        raise InputError("There is no text to sanitise. Type or paste some.")
    if len(text) > LONGEST_TEXT:
        raise InputError(
            f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,} are taken at once. "
            "Longer ones go through a file."
        )
    for position, character in enumerate(text):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise InputError(
                f"The text has an invalid character at position {position + 1:,} "
                "(a NUL or half of a surrogate pair). Remove it and send again."
            )
