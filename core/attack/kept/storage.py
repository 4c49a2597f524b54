"""Runs on disk: one file each in the data folder, for its owner alone, under a name nobody can guess."""

import json
import re
import secrets
from dataclasses import replace
from pathlib import Path

from core.attack.kept.runs import Run
from core.errors import InputError
from core.settings import Settings
from core.store.mark import write_atomically

FOLDER = "attacks"
_ID = re.compile(r"[A-Za-z0-9_-]{22}")


def new_id() -> str:
    """128 random bits: who has it may read the run, and nobody finds it by trying."""
    return secrets.token_urlsafe(16)


def runs_folder(settings: Settings) -> Path:
    """Where the runs are kept; made where it is missing, for the owner alone."""
    folder = settings.data_dir / FOLDER
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(f"The folder for runs cannot be made: {error.strerror}.") from error
    return folder


def save_run(settings: Settings, run: Run) -> Run:
    """Write a run, all or nothing; one without an id gets a new one."""
    run = run if run.id else replace(run, id=new_id())
    path = _path(settings, run.id)
    text = json.dumps(run.to_json(), indent=1, allow_nan=False, ensure_ascii=True) + "\n"
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise InputError(f"The run cannot be kept: {error.strerror}.") from error
    return run


def load_run(settings: Settings, run_id: str) -> Run:
    """The run of this id."""
    try:
        return Run.from_json(json.loads(_path(settings, run_id).read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError("There is no run of this name; it may have been deleted.") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("This run cannot be read; its file was changed or is damaged.") from error


def list_runs(settings: Settings) -> tuple[Run, ...]:
    """All runs that can be read, the newest first."""
    found = []
    for path in (settings.data_dir / FOLDER).glob("*.json"):
        if _ID.fullmatch(path.stem):
            try:
                found.append(load_run(settings, path.stem))
            except InputError:
                continue
    return tuple(sorted(found, key=lambda run: (run.created, run.id), reverse=True))


def delete_run(settings: Settings, run_id: str) -> None:
    """Delete a run for good."""
    try:
        _path(settings, run_id).unlink()
    except FileNotFoundError as error:
        raise InputError("There is no run of this name; it may have been deleted.") from error
    except OSError as error:
        raise InputError(f"The run cannot be deleted: {error.strerror}.") from error


def _path(settings: Settings, run_id: str) -> Path:
    if not _ID.fullmatch(run_id):
        raise InputError("This is not the name of a run.")
    return runs_folder(settings) / f"{run_id}.json"
