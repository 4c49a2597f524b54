"""The policy of one's own words, phrases and regular expressions."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import regex  # type: ignore[import-untyped]

from core.corpus.limits import shown
from core.errors import InputError
from core.sanitize.spans import Span
from core.sanitize.words import word_spans

_SECONDS = 10.0  # for one expression on one text
_LARGEST = 100_000  # entries
_ATOM = regex.compile(r"[\p{L}\p{N}\p{M}\p{Co}]+")
_GAP = regex.compile(r"[\s.'\u2019\p{Pd}]*")  # what may stand between the words of a phrase

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class OwnWords:
    """Words and phrases, matched whole and without regard to case, and regular expressions."""

    words: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    name: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        if not (self.words or self.expressions):
            raise InputError("The list of own words is empty.")
        if len(self.words) + len(self.expressions) > _LARGEST:
            raise InputError(f"The list of own words has more than {_LARGEST:,} entries.")
        _ = self._compiled  # a wrong expression is refused now, not in the middle of a text

    @classmethod
    def parse(cls, entries: Iterable[str]) -> "OwnWords":
        r"""One entry each, blank ones left out; one between slashes, as in /MRN\d+/, is an expression."""
        words, expressions = [], []
        for entry in (line.strip() for line in entries):
            if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
                expressions.append(entry[1:-1])
            elif entry:
                words.append(entry)
        return cls(tuple(dict.fromkeys(words)), tuple(dict.fromkeys(expressions)))

    def spans(self, text: str) -> list[Span]:
        """Every match. One that holds no word at all, such as a symbol, is replaced as a whole."""
        found = list(self._listed(text)) if self._phrases else []
        for expression in self._compiled:
            try:
                for match in expression.finditer(text, timeout=_SECONDS):
                    if match.end() > match.start():
                        wordless = not word_spans(match.group())
                        found.append(Span(match.start(), match.end(), "own word", wordless))
            except TimeoutError:
                raise InputError(
                    f"The expression /{shown(expression.pattern)}/ takes too long on this text; simplify it."
                ) from None
        return found

    def _listed(self, text: str) -> Iterator[Span]:
        """Every place where the words of a phrase follow one another."""
        atoms = list(_ATOM.finditer(text))
        folded = [_folded(atom.group()) for atom in atoms]
        for at, atom in enumerate(atoms):
            for phrase in self._phrases.get(folded[at], ()):
                last = at + len(phrase) - 1
                if tuple(folded[at : last + 1]) == phrase and _close(text, atoms[at : last + 1]):
                    yield Span(atom.start(), atoms[last].end(), "own word")

    @cached_property
    def _phrases(self) -> Mapping[str, list[Phrase]]:
        """The entries that are words and what may stand between words, by their first word."""
        by_first: dict[str, list[Phrase]] = {}
        for entry in self.words:
            if not _is_symbolic(entry):
                phrase = tuple(_folded(atom.group()) for atom in _ATOM.finditer(entry))
                by_first.setdefault(phrase[0], []).append(phrase)
        return by_first

    @cached_property
    def _compiled(self) -> list["regex.Pattern[str]"]:
        symbolic = (regex.escape(entry, literal_spaces=True) for entry in self.words if _is_symbolic(entry))
        return [
            *(regex.compile(entry, regex.IGNORECASE) for entry in symbolic),
            *(_compile(expression) for expression in self.expressions),
        ]


def _is_symbolic(entry: str) -> bool:
    """Whether an entry has other signs than a phrase may have, as C++ has: it is looked for as it stands."""
    rest = _ATOM.sub("", entry)
    return rest == entry or _GAP.fullmatch(rest) is None


def _folded(word: str) -> str:
    """The form in which words are compared: one spelling for composed and decomposed, no case."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


def _close(text: str, atoms: "list[regex.Match[str]]") -> bool:
    return all(_GAP.fullmatch(text, first.end(), second.start()) for first, second in pairwise(atoms))


def _compile(expression: str) -> "regex.Pattern[str]":
    try:
        return regex.compile(expression)
    except regex.error as error:
        raise InputError(f"/{shown(expression)}/ is not a regular expression: {error.msg}.") from error
