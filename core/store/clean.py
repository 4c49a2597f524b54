"""Text from outside, made storable on every database and harmless in a spreadsheet."""

import re

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_RUNS = tuple("=+-@\t\r\n")
_NARROW = str.maketrans("\uff1d\uff0b\uff0d\uff20", "=+-@")
_UNSEEN = " \x00\u00a0\ufeff\u200b\u200e\u200f"


def clean(text: str, length: int | None = None) -> str:
    """`text` without what a database refuses (NUL, lone surrogates), cut to `length` characters."""
    kept = text.replace("\x00", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return kept[:length]


def cell(value: object) -> object:
    """A CSV cell that no spreadsheet runs as a formula; numbers stay numbers."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    # Full-width signs are formulas too in some locales; what is not seen may be trimmed away first.
    start = value.lstrip(_UNSEEN).translate(_NARROW)
    return f"'{value}" if start.startswith(_RUNS) else value
