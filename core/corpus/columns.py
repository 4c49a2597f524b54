"""Which column holds the text and which the user: by the name that was given, else by name and content."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.corpus.limits import shown
from core.errors import InputError

TEXT_NAMES = (
    "text", "document", "note", "body", "content", "message", "comment", "review", "transcript",
    "description", "utterance", "post",
    "tweet", "email_text", "answer", "feedback", "narrative", "summary", "sentence",
)  # fmt: skip
USER_NAMES = (
    "user", "patient", "author", "customer", "client", "person", "member", "speaker", "sender", "employee",
    "account", "subject", "participant", "student", "owner", "writer", "username", "login", "email", "from",
)  # fmt: skip
_ID_ENDINGS = ("", "_id", "id", "_name", "_number", "_no", "_key", "_email", "_uuid", "_hash")


@dataclass(frozen=True)
class Columns:
    """The chosen columns; without a user column all rows are one user. `how` says so in a sentence."""

    text: str
    user: str | None
    how: str


def choose_columns(
    names: Sequence[str],
    sample: Sequence[Mapping[str, object]],
    *,
    user_column: str | None,
    text_column: str | None,
    file: str,
) -> Columns:
    """Choose by name first; the text, but never the user, may also be found by content.

    A wrong guess of the text is seen at once. A wrong guess of the user would put one person into
    several parts and void the guarantee, so a column that is not named like one is never taken.
    """
    text = _named(names, text_column, file) if text_column else _find_text(names, sample, file, user_column)
    user = _named(names, user_column, file) if user_column else _find_user(names, text)
    if user == text:
        raise InputError(f"The column '{shown(text)}' cannot be both the user and the text.")
    text_how = "named" if text_column else "found"
    if user is None:
        users = "no user column was found, so all rows are one user"
    else:
        users = f"users are the column '{shown(user)}' ({'named' if user_column else 'found by its name'})"
    return Columns(text, user, f"Text is the column '{shown(text)}' ({text_how}); {users}.")


def _plain(name: str) -> str:
    """Lower case with single underscores: 'Patient ID' and 'patientId' become 'patient_id'."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _named(names: Sequence[str], wanted: str, file: str) -> str:
    """The column called `wanted`, exactly or else but for case and punctuation."""
    exact = [name for name in names if name == wanted]
    close = exact or [name for name in names if _plain(name) == _plain(wanted)]
    if len(close) == 1:
        return close[0]
    listed = ", ".join(f"'{shown(name)}'" for name in names[:12]) + (", ..." if len(names) > 12 else "")
    problem = "has no column" if not close else "has more than one column"
    raise InputError(f"{file} {problem} called '{shown(wanted)}'; its columns are {listed}.")


def _find_user(names: Sequence[str], text: str) -> str | None:
    """The first column, in the order of USER_NAMES, that is named like a person's id."""
    plain = {name: _plain(name) for name in names if name != text}
    for base in USER_NAMES:
        for ending in _ID_ENDINGS:
            found = [name for name, form in plain.items() if form == base + ending]
            if len(found) == 1:
                return found[0]
    return None


def _find_text(
    names: Sequence[str], sample: Sequence[Mapping[str, object]], file: str, user_column: str | None
) -> str:
    """The text column by name when its values are text, else the one with the longest running words."""
    lengths = {name: _mean_length(name, sample) for name in names if name != user_column}
    for base in TEXT_NAMES:
        found = [name for name in lengths if _plain(name) in (base, base + "s", base + "_text")]
        if len(found) == 1 and lengths[found[0]] > 0:
            return found[0]
    best = max(lengths, key=lambda name: lengths[name], default=None)
    if best is None or lengths[best] < 20:
        raise InputError(f"{file} has no column that looks like text; name the one to read.")
    return best


def _mean_length(name: str, sample: Sequence[Mapping[str, object]]) -> float:
    """Mean characters of the values that are strings of words; 0 when there are none."""
    values = [value for row in sample if isinstance(value := row.get(name), str) and value.strip()]
    worded = [value for value in values if " " in value.strip()]
    if not values:
        return 0.0
    if len(worded) * 2 < len(values):
        return 0.5  # text by name only: single words
    return sum(map(len, values)) / len(values)
