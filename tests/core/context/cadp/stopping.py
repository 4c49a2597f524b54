"""Stops for the tests of continued trainings: at a step of one's choice, in an orderly way or by a crash."""

import pytest

from core.context.cadp.plan import CadpProgress
from core.context.cadp.run import CadpRun


class Crash(Exception):
    """The process is gone."""


def crash_at(step: int):
    """A listener that dies when the step is made, as a process would: after it, and before anything else."""

    def listen(progress: CadpProgress) -> None:
        if progress.stage == "training" and progress.step >= step:
            raise Crash

    return listen


def stop_at(patch: pytest.MonkeyPatch, step: int) -> None:
    """Trainings in the background are stopped when they reach the step; they hear of it in the next one."""
    note = CadpRun._note

    def noted(run: CadpRun, progress: CadpProgress) -> None:
        note(run, progress)
        if progress.stage == "training" and progress.step >= step:
            run.cancel.set()

    patch.setattr(CadpRun, "_note", noted)
