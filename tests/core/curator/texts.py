"""Small texts to train on, plans that take a second, and a finger on the stop button."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.curator.run import Run
from core.ensembles import Plan
from core.lm.stack import LoraShape
from core.lm.training import TrainingSettings
from core.settings import Settings

TRAINING = TrainingSettings(
    shape=LoraShape(layers=2, rank=2), passes=2, batch=2, length=16, rows_at_once=1, checkpoint_steps=2
)
PLAN = Plan(parts=2, queries=32, training=TRAINING)
KEY = (
    b"0123456789abcdef" * 2
)  # splits the users of `notes` into two and into three parts with somebody in each


def plan(**changes: Any) -> Plan:
    return replace(PLAN, **changes)


def notes(users: int = 12, topic: str = "slept well and ate soup", start: int = 0) -> list[dict[str, str]]:
    return [
        {"user": f"patient-{number}", "text": f"Note {number}: the patient {topic}."}
        for number in range(start, start + users)
    ]


def write_notes(path: Path, rows: list[dict[str, str]] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows or notes()), encoding="utf-8")
    return path


def stop_at(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Press stop when this share is reached."""
    note = Run._note_progress

    def noted(run, progress):
        note(run, progress)
        if progress.share > share:
            run.cancel.set()

    monkeypatch.setattr(Run, "_note_progress", noted)


def same_key(settings: Settings) -> Settings:
    """An installation whose key is known, so that two of them split users alike."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    (settings.data_dir / "key").write_bytes(KEY)
    return settings
