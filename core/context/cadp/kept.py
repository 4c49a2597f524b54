"""A CADP training on disk: enough to go on with it after a restart, and to forget it.

cadp-training/<name>/job.json, text.json, the checkpoint, lock; the folder is for its owner alone

The text and its flags are kept as they were when the training began. An uploaded file is deleted in its own
time and a taught detector lives as long as its session, and with other flags it would be another training.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from core.corpus.documents import Corpus, Document
from core.curator.job import is_held
from core.errors import InputError
from core.settings import Settings
from core.store.mark import write_atomically

if TYPE_CHECKING:
    from core.context.cadp.card import Recall
    from core.context.cadp.model import Recipe

State = Literal["running", "stopped", "interrupted", "failed"]
_JOB, _TEXT = "job.json", "text.json"


@dataclass(frozen=True)
class CadpJob:
    """One training: of which text, how, on which public model, flagged by what, and where its model goes."""

    id: str
    name: str
    corpus: str
    synthetic: bool
    model: str
    recipe: "Recipe"
    flags: str = ""
    recall: "Recall | None" = None
    output: str = ""  # a folder; among the studio's models where it is empty
    state: State = "running"
    sentence: str = ""


def training_folder(settings: Settings, name: str) -> Path:
    """Where a training keeps what it reached; private material."""
    return settings.data_dir / "cadp-training" / name


def write_job(folder: Path, job: CadpJob) -> None:
    """Keep a job, whole or not at all."""
    _write(folder / _JOB, asdict(job))


def write_text(folder: Path, corpus: Corpus, flags: Sequence[bool]) -> None:
    """Keep what is learned from, with its flags."""
    _write(folder / _TEXT, {"documents": [each.text for each in corpus.documents], "flags": list(flags)})


def read_text(folder: Path, job: CadpJob) -> tuple[Corpus, list[bool]]:
    """What `write_text` kept."""
    try:
        values = json.loads((folder / _TEXT).read_text(encoding="utf-8"))
        texts, flags = values["documents"], [bool(flag) for flag in values["flags"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"The text of '{job.name}' is missing or damaged: discard the training.") from error
    documents = tuple(Document("", str(text), job.corpus, row) for row, text in enumerate(texts, 1))
    return Corpus(job.corpus, documents, synthetic=job.synthetic), flags


def is_kept(folder: Path) -> bool:
    """Whether there is a training to go on with: from its flags on there is."""
    return (folder / _JOB).is_file()


def read_jobs(settings: Settings) -> list[CadpJob]:
    """The unfinished trainings, newest first. One whose process is gone is interrupted."""
    files = (settings.data_dir / "cadp-training").glob(f"*/{_JOB}")
    found = []
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True):
        job = _read(path)
        if job is not None:
            ended = job.state == "running" and not is_held(path.parent)
            found.append(replace(job, state="interrupted") if ended else job)
    return found


def forget(settings: Settings, name: str) -> None:
    """Delete text, flags and checkpoint."""
    shutil.rmtree(training_folder(settings, name), ignore_errors=True)


def _write(path: Path, values: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.parent.chmod(0o700)
    write_atomically(path, json.dumps(values).encode() + b"\n")


def _read(path: Path) -> CadpJob | None:
    from core.context.cadp.card import Recall

    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        recipe, recall = _recipe(values.pop("recipe")), values.pop("recall")
        return CadpJob(**values, recipe=recipe, recall=Recall(**recall) if recall else None)
    except (OSError, ValueError, TypeError, KeyError, InputError):
        return None


def _recipe(values: dict[str, Any]) -> "Recipe":
    from core.context.cadp.model import Recipe
    from core.context.cadp.plan import CadpSettings
    from core.lm.stack import LoraShape

    settings, shape = values.pop("settings"), values.pop("shape")
    shape["targets"] = tuple(shape["targets"])
    return Recipe(**values, settings=CadpSettings(**settings), shape=LoraShape(**shape))
