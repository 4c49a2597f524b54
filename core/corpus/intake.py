"""The gate that every row passes, whatever file it came from: user ids and texts are checked here."""

import unicodedata
from dataclasses import dataclass, field
from typing import Literal

from core.corpus.documents import NO_USER, Corpus, Document, DropLog
from core.corpus.limits import Limits, shown
from core.errors import InputError

Users = Literal["auto", "document"]
_MISSING = frozenset({"", "nan", "null", "none", "na", "n/a", "<na>"})


def user_id(value: object) -> str:
    """A user id as text, the same for 7, 7.0 and ' 7 '; what stands for "missing" is the one user NO_USER."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = unicodedata.normalize("NFC", str(value).strip()) if value is not None else ""
    return NO_USER if text.casefold() in _MISSING else text


@dataclass
class Intake:
    """Collects documents under the limits; what cannot be used is dropped with its reason and place."""

    source: str
    limits: Limits
    users: Users = "auto"
    drops: DropLog = field(default_factory=DropLog)
    notes: list[str] = field(default_factory=list)
    _documents: list[Document] = field(default_factory=list)
    _owners: dict[object, str] = field(default_factory=dict)

    def drop(self, reason: str, place: str) -> None:
        """Leave out the row or file at `place`."""
        self.drops.add(reason, place)

    def take(self, user: object, text: object, row: int, *, source: str | None = None) -> None:
        """Take one document, or drop it with the reason."""
        owner = f"{self.source} {row}" if self.users == "document" else self._owner(user)
        clean = text.strip() if isinstance(text, str) else text
        fault = self._fault(owner, clean)
        if fault is not None or not isinstance(clean, str):
            self.drop(fault or "no text", f"row {row}" if source is None else shown(source))
            return
        if "\r" in clean:
            clean = clean.replace("\r\n", "\n").replace("\r", "\n")
        if len(self._documents) >= self.limits.documents:
            raise InputError(
                f"{self.source} has more than {self.limits.documents:,} documents; "
                "split it, or join short rows of one user."
            )
        self._documents.append(Document(owner, clean, source or self.source, row))

    def _owner(self, user: object) -> str:
        """The user id of a cell; a list or an object is none. Equal ids share one string."""
        if isinstance(user, list | dict):
            return NO_USER
        owner = self._owners.get(user)
        if owner is None:
            owner = self._owners[user] = user_id(user)
        return owner

    def _fault(self, owner: str, text: object) -> str | None:
        """Why a row cannot be taken, or None."""
        if text is None or text == "":
            return "no text"
        if not isinstance(text, str):
            return "the text is not a string"
        if len(text) > self.limits.document_chars:
            return f"longer than {self.limits.document_chars:,} characters"
        if len(owner) > self.limits.user_id_chars:
            return f"a user id longer than {self.limits.user_id_chars} characters"
        if "\0" in text or "\0" in owner:
            return "NUL characters"
        return None if _is_unicode(text) and _is_unicode(owner) else "broken Unicode"

    def corpus(self, name: str, *, synthetic: bool) -> Corpus:
        """All that was taken; an InputError with the main reason when that is nothing."""
        dropped = self.drops.entries()
        if not self._documents:
            because = f"; {dropped[0].count:,} were dropped: {dropped[0].reason}" if dropped else ""
            raise InputError(f"{self.source} holds no documents that can be used{because}.")
        notes = list(self.notes)
        if self.users == "document":
            notes.append("Each document is taken to be from a different user, as declared.")
        elif any(document.user == NO_USER for document in self._documents):
            notes.append("Rows without a user id are kept together as one user.")
        return Corpus(name, tuple(self._documents), synthetic, dropped, tuple(notes))


def _is_unicode(text: str) -> bool:
    """False for lone surrogates, which JSON escapes can bring and no tokenizer can read."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
