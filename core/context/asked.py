"""Detecting as the ways in ask for it: which detectors there are, what text is taken, what was found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.context.detector import SHIPPED, Detector, Sentence
from core.errors import InputError
from core.settings import Settings

LONGEST_TEXT = 200_000  # characters at once on a page or over the API; the command line takes any length
_SECRET = re.compile(r"[\w@#!$%&*+./-]*\d[\w@#!$%&*+./-]*(?:[ -]\d[\w-]*)*")
_LAST = re.compile(r"[^\s.,;:!?]+(?=[.,;:!?\s]*$)")


@dataclass(frozen=True)
class Found:
    """A text with the sentences that a detector found in it."""

    text: str
    sentences: tuple[Sentence, ...]
    detector: Detector

    @property
    def flagged(self) -> int:
        """How many sentences are flagged."""
        return sum(sentence.flagged for sentence in self.sentences)

    def before(self, place: int) -> str:
        """What was read before a sentence."""
        if place == 0:
            return ""
        return self.text[self.sentences[place].window_start : self.sentences[place - 1].end]

    def at(self, threshold: float) -> "Found":
        """The same scores, flagged from another threshold on; nothing is read again."""
        sentences = tuple(
            Sentence(each.text, each.start, each.end, each.score, each.score >= threshold, each.window_start)
            for each in self.sentences
        )
        return Found(self.text, sentences, self.detector.at(threshold))


def find(text: str, detector: Detector) -> Found:
    """Score the sentences of a text that a page or a program sent."""
    check_text(text)
    return Found(text, detector.detect(text), detector)


def check_text(text: str) -> None:
    """Refuse what cannot be read at once, in a sentence."""
    if not isinstance(text, str) or not text.strip():
        raise InputError("There is no text to look at. Type, paste or upload some.")
    if len(text) > LONGEST_TEXT:
        raise InputError(
            f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,} are taken at once. "
            "Longer ones go through `python -m core detect`."
        )
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            "The text has an invalid character (a NUL or half of a surrogate pair). Remove it and try again."
        )


def known_detector(name: str, settings: Settings) -> Detector:
    """The shipped detector or a saved one. A page never names a folder on the disk."""
    from core.context.saved import load_detector, saved_names

    known = (SHIPPED, *saved_names(settings))
    if name not in known:
        raise InputError(f"There is no detector called {name[:80]!r} here; there are {', '.join(known)}.")
    return load_detector(name, settings)


def likely_secret(sentence: str) -> str:
    """What is most likely the secret of a sentence: its longest stretch with digits, or its last word."""
    numbers = [match.group().strip(" .-/") for match in _SECRET.finditer(sentence)]
    if numbers:
        return max(numbers, key=len)
    last = _LAST.search(sentence)
    return last.group() if last else ""


def read_text(path: Path) -> str:
    """An uploaded text file in any encoding that can be told."""
    from core.corpus.encoding import detect as encoding_of

    try:
        with path.open("rb") as stream:
            codec = encoding_of(stream, path.name).codec
            stream.seek(0)
            text = stream.read(8 * LONGEST_TEXT).decode(codec)
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or 'the disk failed'}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is longer than {LONGEST_TEXT:,} characters or no text.") from error
    text = text.replace("\r\n", "\n")
    check_text(text)
    return text


def shown_share(flagged: int, of: Sequence[object]) -> str:
    """So many of so many, in words."""
    return f"{flagged:,} of {len(of):,} sentence{'' if len(of) == 1 else 's'}"
