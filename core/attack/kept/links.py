"""Links to stored runs: who has one may read that run's report, nobody else can guess it, and it can end."""

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from filelock import FileLock, Timeout

from core.attack.kept.runs import Run
from core.attack.kept.storage import load_run, runs_folder
from core.errors import InputError
from core.settings import Settings
from core.store.mark import write_atomically

_FILE, _LOCK = "links.json", ".links.lock"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
MOST = 200


@dataclass(frozen=True)
class Link:
    """A link: 256 random bits, the run that it shows, and since when."""

    token: str
    run: str
    created: str


def make_link(settings: Settings, run_id: str) -> Link:
    """A new link to a run that there is."""
    load_run(settings, run_id)
    link = Link(secrets.token_urlsafe(32), run_id, datetime.now(UTC).isoformat(timespec="seconds"))
    with _locked(settings):
        known = list_links(settings)
        if len(known) >= MOST:
            raise InputError(f"There are {MOST} links already; revoke some first.")
        _write(settings, (link, *known))
    return link


def list_links(settings: Settings) -> tuple[Link, ...]:
    """All links, the newest first."""
    try:
        values = json.loads((runs_folder(settings) / _FILE).read_text(encoding="utf-8"))
        return tuple(Link(**entry) for entry in values)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError) as error:
        raise InputError("The list of links cannot be read; its file was changed or is damaged.") from error


def revoke_link(settings: Settings, token: str) -> None:
    """End a link; its run stays."""
    with _locked(settings):
        known = list_links(settings)
        left = tuple(link for link in known if link.token != token)
        if len(left) == len(known):
            raise InputError("There is no such link; it may have been revoked.")
        _write(settings, left)


def forget_links_of(settings: Settings, run_id: str) -> None:
    """End all links to a run that is deleted."""
    with _locked(settings):
        known = list_links(settings)
        if any(link.run == run_id for link in known):
            _write(settings, tuple(link for link in known if link.run != run_id))


def run_behind(settings: Settings, token: str) -> Run:
    """The run that a link shows; one sentence for whatever is no link."""
    if _TOKEN.fullmatch(token):
        for link in list_links(settings):
            if secrets.compare_digest(link.token, token):
                return load_run(settings, link.run)
    raise InputError("This link leads nowhere: it was revoked, its report was deleted, or it is mistyped.")


@contextmanager
def _locked(settings: Settings) -> Iterator[None]:
    lock = FileLock(runs_folder(settings) / _LOCK, timeout=5, mode=0o600)
    try:
        lock.acquire()
    except (Timeout, OSError) as error:
        raise InputError("The list of links cannot be changed right now; try again.") from error
    try:
        yield
    finally:
        lock.release()


def _write(settings: Settings, links: tuple[Link, ...]) -> None:
    text = json.dumps([asdict(link) for link in links], indent=1) + "\n"
    try:
        write_atomically(runs_folder(settings) / _FILE, text.encode())
    except OSError as error:
        raise InputError(f"The link cannot be kept: {error.strerror}.") from error
