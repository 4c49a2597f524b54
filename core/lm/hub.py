"""From a model's name to a folder on this machine: a local folder, the hub's cache, or the hub."""

import re
from pathlib import Path

from core.errors import InputError, ModelUnavailable
from core.settings import EMBEDDED

# Weights as safetensors and the text files around them; never pickles, never code.
WANTED = ["*.safetensors", "*.json", "*.txt", "*.model"]
_NAME = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?")


def resolve(name: str, *, what: str) -> Path:
    """The folder that holds `name`; downloads it where the hub can be reached."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if not _NAME.fullmatch(name) or ".." in name:
        raise InputError(f"{name[:80]!r} is neither a folder here nor a model name such as 'gpt2'.")
    return _from_hub(name, what)


def _from_hub(name: str, what: str) -> Path:
    from httpx2 import HTTPError
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except LocalEntryNotFoundError:
        pass
    try:
        # One short question first: without a network the answer comes in a second, not after retries.
        HfApi().model_info(name, timeout=1.5)
        return Path(snapshot_download(name, allow_patterns=WANTED))
    except RepositoryNotFoundError as error:
        raise ModelUnavailable(
            f"The hub knows no {what} named {name!r}. Check the spelling, or use {EMBEDDED!r}."
        ) from error
    except (HfHubHTTPError, HTTPError, OSError) as error:
        raise ModelUnavailable(
            f"The {what} {name!r} is not cached here and the hub cannot be reached. "
            f"Use {EMBEDDED!r}, which needs no hub, or a local folder."
        ) from error
