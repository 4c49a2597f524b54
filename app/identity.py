"""Who is the curator: a password once, then a random token that every handler checks on the server."""

import hmac
import secrets
import threading
import time
from hashlib import sha256

from core.errors import InputError
from core.settings import Settings

LIFETIME_SECONDS = 12 * 3600
_TRIES, _TRIES_SECONDS = 10, 60


class Curators:
    """Signs curators in and out. Tokens live in memory only: a restart signs everybody out."""

    def __init__(self, settings: Settings) -> None:
        self._password = settings.curator_password
        self._tokens: dict[bytes, float] = {}
        self._failures: list[float] = []
        self._lock = threading.Lock()

    def sign_in(self, password: str) -> str:
        """A fresh token for the right password; a sentence for a wrong one."""
        if self._password is None:
            raise InputError("There is no curator here: set SUBMIX_CURATOR_PASSWORD and start again.")
        with self._lock:
            now = time.monotonic()
            self._failures = [then for then in self._failures if now - then < _TRIES_SECONDS]
            if len(self._failures) >= _TRIES:
                raise InputError("Too many wrong passwords. Wait a minute and try again.")
            right = self._password.get_secret_value().encode()
            if not hmac.compare_digest(
                sha256(password.encode("utf-8", "replace")).digest(), sha256(right).digest()
            ):
                self._failures.append(now)
                raise InputError("That is not the curator's password.")
            token = secrets.token_urlsafe(32)
            self._tokens = {key: until for key, until in self._tokens.items() if until > now}
            self._tokens[_fingerprint(token)] = now + LIFETIME_SECONDS
            return token

    def sign_out(self, token: str) -> None:
        """Forget a token."""
        with self._lock:
            self._tokens.pop(_fingerprint(token), None)

    def knows(self, token: object) -> bool:
        """Whether this token was given to a curator and is still good."""
        if not isinstance(token, str) or not token:
            return False
        # Looking up a hash of the token tells nothing about the token by its timing.
        with self._lock:
            return self._tokens.get(_fingerprint(token), 0.0) > time.monotonic()


def _fingerprint(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
