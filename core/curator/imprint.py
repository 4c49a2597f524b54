"""What is kept of a corpus for good, so that its budget cannot be forgotten by giving its text another name.

The ledger knows a corpus by its name. A name is a word: the same text under another one would open a fresh
budget on the same people, and the two guarantees would add up without anybody being told. So the studio
keeps, for each corpus that was trained, how its users were split, and keyed fingerprints (HMAC-SHA256 under
this installation's key, 64 bits of it) of its user ids and documents. They stay when the ensemble is deleted.
Without the key a fingerprint says nothing; with it, one can only ask whether a text that one already holds
was there.

What this cannot see: the same text cut into other documents or reworded, documents of fewer than five words
(they are everybody's), and trainings on another data folder.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from core.corpus import NO_USER, Corpus
from core.errors import InputError
from core.settings import Settings
from core.store.key import load_key
from core.store.mark import write_atomically

FORMAT = 1
LEAST_WORDS = 5
_BYTES = 8
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Split:
    """Where users live: the number of parts, halves, and the name of the key that places them."""

    k: int
    halves: bool
    key: str


@dataclass(frozen=True)
class Imprint:
    """One corpus, after its text is gone."""

    corpus: str
    synthetic: bool
    split: Split
    documents: frozenset[bytes]
    users: frozenset[bytes]


class Imprints:
    """The imprints in one data folder."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / "imprints"
        self._key = settings.data_dir / "key"

    def of(self, corpus: Corpus, split: Split) -> Imprint:
        """The imprint of a corpus that is about to be trained."""
        key = hmac.digest(load_key(self._key), b"imprint", hashlib.sha256)
        said = (" ".join(_WORD.findall(document.text.casefold())) for document in corpus.documents)
        own = (text for text in said if text.count(" ") >= LEAST_WORDS - 1)
        users = (user for user in corpus.users if user != NO_USER)
        return Imprint(
            corpus.name, corpus.synthetic, split, _marks(key, b"document", own), _marks(key, b"user", users)
        )

    def read(self, corpus: str) -> Imprint | None:
        """What is kept of the corpus of that name."""
        path = self._path(corpus)
        return _read(path) if path.exists() else None

    def others(self, corpus: str) -> list[Imprint]:
        """What is kept of all other corpora."""
        found = [_read(path) for path in sorted(self._folder.glob("*.json"))]
        return [imprint for imprint in found if imprint.corpus != corpus]

    def add(self, imprint: Imprint) -> None:
        """Keep an imprint, joined with what an earlier training left: what was spent stays spent."""
        before = self.read(imprint.corpus)
        if before is not None:
            imprint = replace(
                imprint,
                documents=imprint.documents | before.documents,
                users=imprint.users | before.users,
                synthetic=imprint.synthetic and before.synthetic,
            )
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._path(imprint.corpus), _encoded(imprint))

    def _path(self, corpus: str) -> Path:
        return self._folder / f"{hashlib.sha256(corpus.encode()).hexdigest()[:32]}.json"


def _marks(key: bytes, purpose: bytes, texts: Iterable[str]) -> frozenset[bytes]:
    def mark(text: str) -> bytes:
        return hmac.digest(key, purpose + b"\0" + text.encode("utf-8", "surrogatepass"), hashlib.sha256)

    return frozenset(mark(text)[:_BYTES] for text in texts)


def _encoded(imprint: Imprint) -> bytes:
    values = {
        "format": FORMAT,
        "corpus": imprint.corpus,
        "synthetic": imprint.synthetic,
        "k": imprint.split.k,
        "halves": imprint.split.halves,
        "key": imprint.split.key,
        "documents": b"".join(sorted(imprint.documents)).hex(),
        "users": b"".join(sorted(imprint.users)).hex(),
    }
    return json.dumps(values, indent=1).encode() + b"\n"


def _read(path: Path) -> Imprint:
    """An imprint from its file. One that cannot be read is an error: without it nothing can be promised."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != FORMAT:
            raise ValueError("an unknown format")
        split = Split(int(values["k"]), bool(values["halves"]), str(values["key"]))
        documents, users = (_cut(bytes.fromhex(values[name])) for name in ("documents", "users"))
        return Imprint(str(values["corpus"]), bool(values["synthetic"]), split, documents, users)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"The record {path} of an earlier corpus cannot be read, so nobody can tell whether a new text "
            "repeats it. Put the file back from a copy of the data folder."
        ) from error


def _cut(joined: bytes) -> frozenset[bytes]:
    return frozenset(joined[start : start + _BYTES] for start in range(0, len(joined), _BYTES))
