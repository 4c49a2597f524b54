"""Texts on their way into training: out of the web server's cache at once, and deleted after a stated time.

uploads/<random>/<name of the file>, readable by the owner only
"""

import os
import re
import secrets
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.corpus import Corpus, Limits, read_corpus
from core.corpus.limits import MEGABYTE, shown
from core.errors import InputError
from core.settings import Settings

UPLOAD_HOURS = 24  # how long a text waits for its training
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Reading:
    """How a text is read; what it is declared to be is the curator's word."""

    user_column: str | None = None
    text_column: str | None = None
    each_document_a_user: bool = False
    synthetic: bool = False


@dataclass(frozen=True)
class Upload:
    """A text that waits."""

    id: str
    path: Path
    received: datetime

    @property
    def name(self) -> str:
        """The file's name as it may be shown."""
        return shown(self.path)


class Uploads:
    """The texts that wait in one data folder."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / "uploads"
        self._limits = Limits(file_bytes=settings.max_upload_mb * MEGABYTE)

    def take(self, path: Path) -> Upload:
        """Move a file in. Whatever happens, it is no longer where it was."""
        identity = secrets.token_hex(16)
        place = self._folder / identity
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.mkdir(mode=0o700)
            shutil.move(path, place / path.name)
            (place / path.name).chmod(0o600)
            os.utime(place)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):
                path.unlink()
            raise InputError(
                f"{shown(path)} cannot be kept for training: {error.strerror or 'the disk failed'}."
            ) from error
        return self._at(place)

    def find(self, identity: str) -> Upload:
        """The text with this id."""
        place = self._folder / identity
        if not _ID.fullmatch(identity) or not any(_files(place)):
            raise InputError("The uploaded text is gone: it is deleted after a time. Upload it again.")
        return self._at(place)

    def waiting(self, taken: Collection[str] = ()) -> Upload | None:
        """The newest text that no training has taken."""
        free = [each for each in self._all() if each.id not in taken]
        return max(free, key=lambda upload: upload.received, default=None)

    def read(self, upload: Upload, how: Reading, name: str | None = None) -> Corpus:
        """The text as a corpus."""
        return read_corpus(
            upload.path,
            user_column=how.user_column or None,
            text_column=how.text_column or None,
            users="document" if how.each_document_a_user else "auto",
            synthetic=how.synthetic,
            name=name,
            limits=self._limits,
        )

    def delete(self, identity: str) -> None:
        """Forget a text."""
        if _ID.fullmatch(identity):
            shutil.rmtree(self._folder / identity, ignore_errors=True)

    def sweep(self, taken: Collection[str], now: datetime | None = None) -> int:
        """Delete what has waited for too long; returns how many texts that were."""
        limit = (now or datetime.now(UTC)) - timedelta(hours=UPLOAD_HOURS)
        old = [each for each in self._all() if each.id not in taken and each.received < limit]
        for each in old:
            self.delete(each.id)
        return len(old)

    def _all(self) -> list[Upload]:
        if not self._folder.is_dir():
            return []
        places = (place for place in self._folder.iterdir() if _ID.fullmatch(place.name))
        return [self._at(place) for place in places]

    def _at(self, place: Path) -> Upload:
        received = datetime.fromtimestamp(place.stat().st_mtime, UTC)
        return Upload(place.name, next(iter(_files(place)), place / "nothing"), received)


def _files(place: Path) -> list[Path]:
    return [each for each in place.iterdir() if each.is_file()] if place.is_dir() else []
