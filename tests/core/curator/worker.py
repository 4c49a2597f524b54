"""A process that trains until it dies or its disk is full: kill|full, data folder, model, text."""

import json
import os
import resource
import signal
import sys
from pathlib import Path

from core.curator.run import Run
from core.curator.uploads import Reading
from core.settings import Settings
from core.studio import Studio
from tests.core.curator.texts import plan

SMALL_DISK = 16_000  # bytes that a file may have: a job, but no checkpoint


def main(mode: str, data: str, model: str, text: str) -> None:
    studio = Studio(Settings(_env_file=None, data_dir=Path(data), model=model))
    note = Run._note_progress

    def noted(run, progress):
        note(run, progress)
        if mode == "kill" and progress.share > 0.5:
            os.kill(os.getpid(), signal.SIGKILL)

    Run._note_progress = noted  # type: ignore[method-assign]
    if mode == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK, resource.RLIM_INFINITY))
    studio.jobs.submit(studio.jobs.take(Path(text)), Reading(), plan(), "ward")
    studio.jobs.wait()
    (status,) = studio.jobs.statuses()
    print(json.dumps({"state": status.state, "sentence": status.sentence}))


if __name__ == "__main__":
    main(*sys.argv[1:])
