"""A process that trains by CADP until it is killed in the middle: data folder, model."""

import os
import signal
import sys
from pathlib import Path

from core.context.cadp.job import CadpJobs
from core.context.cadp.plan import CadpProgress
from core.context.cadp.run import CadpRun
from core.lm.public import load_public
from core.settings import Settings
from tests.core.context.cadp.test_job import corpus, nobody, recipe

KILLED_AT = 5  # between the checkpoints at 4 and 8


def main(data: str, model: str) -> None:
    settings = Settings(_env_file=None, data_dir=Path(data), model=model)
    note = CadpRun._note

    def noted(self: CadpRun, progress: CadpProgress) -> None:
        note(self, progress)
        if progress.stage == "training" and progress.step == KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)

    CadpRun._note = noted  # type: ignore[method-assign]
    jobs = CadpJobs(settings, lambda: load_public(settings.model, settings))
    jobs.start(corpus(synthetic=False), recipe(batch=1, checkpoint_steps=4), nobody, name="ward")
    jobs.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
