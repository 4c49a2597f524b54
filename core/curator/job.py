"""A training on disk: enough to go on with it after a restart.

training/<name>/job.json, lock, and the checkpoints of its adapters
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from core.curator.uploads import Reading
from core.errors import InputError
from core.settings import Settings
from core.store.mark import locked, write_atomically

if TYPE_CHECKING:
    from core.ensembles import Plan

State = Literal["queued", "running", "done", "cancelled", "failed", "interrupted"]
GOING: frozenset[State] = frozenset({"queued", "running"})
_FILE, _LOCK = "job.json", "lock"


@dataclass(frozen=True)
class Job:
    """One training: which text, how it is read, on which plan. `reached` is the share that is done."""

    id: str
    name: str
    upload: str
    reading: Reading
    plan: "Plan"
    guarantees_add: bool
    session: str
    state: State = "queued"
    reached: float = 0.0
    sentence: str = ""


def training_folder(settings: Settings, name: str) -> Path:
    """Where the training of an ensemble keeps what it reached; private material."""
    return settings.data_dir / "training" / name


def write_job(settings: Settings, job: Job) -> None:
    """Keep a job, whole or not at all."""
    folder = training_folder(settings, job.name)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(folder / _FILE, json.dumps(asdict(job), indent=1).encode() + b"\n")


def read_jobs(settings: Settings, *, but: str | None = None) -> list[Job]:
    """The jobs on disk, newest first, but that of one name. One whose process is gone is interrupted."""
    files = (settings.data_dir / "training").glob(f"*/{_FILE}")
    found = []
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True):
        if path.parent.name == but:
            continue
        job = _read(path)
        if job is not None:
            ended = job.state in GOING and not is_held(path.parent)
            found.append(replace(job, state="interrupted") if ended else job)
    return found


@contextmanager
def hold(folder: Path, *, wait_seconds: float = 1.0) -> Iterator[None]:
    """Keep others from training the same name. The system lets go of it when the process dies."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or 'the disk failed'}.") from error
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        try:
            stack.enter_context(locked(descriptor, fcntl.LOCK_EX, wait_seconds))
        except TimeoutError as error:
            raise InputError(f"'{folder.name}' is being trained by another process.") from error
        yield


def is_held(folder: Path) -> bool:
    """Whether a live process trains in this folder."""
    try:
        with hold(folder, wait_seconds=0.0):
            return False
    except InputError:
        return True


def _read(path: Path) -> Job | None:
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        reading, plan = Reading(**values.pop("reading")), _plan(values.pop("plan"))
        return Job(reading=reading, plan=plan, **values)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _plan(values: dict[str, Any]) -> "Plan":
    from core.ensembles import Plan
    from core.lm.stack import LoraShape
    from core.lm.training import TrainingSettings

    training = values.pop("training")
    shape = training.pop("shape")
    shape["targets"] = tuple(shape["targets"])
    return Plan(**values, training=TrainingSettings(shape=LoraShape(**shape), **training))
