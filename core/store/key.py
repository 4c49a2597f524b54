"""The key of the session log's text hashes: 32 random bytes in a file that only the owner can read."""

import secrets
from pathlib import Path

from core.errors import LedgerUnavailable
from core.store.mark import write_atomically

KEY_BYTES = 32


def load_key(path: Path) -> bytes:
    """Read the key, making it first where there is none; two processes at once get the same one."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        write_atomically(path, secrets.token_bytes(KEY_BYTES), keep_existing=True)
        key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise LedgerUnavailable(f"The key file {path} is damaged; remove it to have a new one made.")
    return key
