"""What a word is: cutting text into words at exact places, and the form in which words are looked up.

A word is a run of letters and digits with what clings to them (combining marks, underscores, zero-width and
other format characters). It goes on over one joining character: a hyphen, apostrophe, full stop, slash, at
sign or ampersand inside a word, and between digits also a comma, colon, dash or thin space. So 'AB12CD',
'12-34-56', 'well-known', '7/29/07' and 'ann@example.com' are one word each: an identifier is looked up and
replaced as a whole, never in parts. English clitics ('s, n't) stand alone, as in the text behind GloVe.
"""

import re
import unicodedata

import regex  # type: ignore[import-untyped]

LONGEST_WORD = 100  # characters; no vocabulary has longer words, so longer ones lie outside of it

_CORE = r"\p{L}\p{N}\p{Alphabetic}\p{Co}"
_CLINGING = r"\p{M}\p{Pc}\p{Cf}"
_ANY = rf"[{_CORE}{_CLINGING}]"
_JOIN = r"[-\u2010\u2011'\u2019./@&]"
_JOIN_DIGITS = r"[,:\u00b7\u00a0\u2009\u202f\u2212\p{Pd}]"
_WORD = regex.compile(
    rf"(?:\p{{L}}\.){{2,}}(?!{_ANY})"  # 'U.S.' and 'e.g.' keep their last full stop
    rf"|(?<![{_CLINGING}])[{_CLINGING}]*+[{_CORE}]{_ANY}*+"
    rf"(?:(?:{_JOIN}|(?<=\p{{Nd}}){_JOIN_DIGITS}(?=\p{{Nd}})){_ANY}++)*+"
)
_CLITIC = re.compile(r"n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m)", re.IGNORECASE)
NUMERALS = regex.compile(r"\p{N}+")
_LIKE_HYPHEN_OR_APOSTROPHE = str.maketrans("\u2010\u2011\u2019", "--'")


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every word of a text, in order."""
    spans = [match.span() for match in _WORD.finditer(text)]
    return _split_clitics(text, spans) if "'" in text or "\u2019" in text else spans


def _split_clitics(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans with every clitic behind a word as a span of its own."""
    ends = {end: at for at, (_, end) in enumerate(spans)}
    for match in _CLITIC.finditer(text):
        at = ends.get(match.end())
        if at is not None and spans[at][0] < match.start():
            spans[at] = spans[at][0], match.start()
            spans.append(match.span())
    return sorted(spans)


def normal_form(word: str) -> str:
    """The form under which a word is looked up: compatibility-composed, lower case, no format characters."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKC", word.translate(_LIKE_HYPHEN_OR_APOSTROPHE)).lower()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")


def has_digit(word: str) -> bool:
    """Whether any character is a number to Unicode: a digit of any script, a fraction, a superscript."""
    return NUMERALS.search(word) is not None


def is_number(word: str) -> bool:
    """Whether a word is written with digits and without letters."""
    return has_digit(word) and not any(char.isalpha() for char in word)
