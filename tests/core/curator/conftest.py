"""A studio over a tiny real model, and texts for it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from core.curator.jobs import Jobs
from core.curator.uploads import Upload
from core.settings import Settings
from core.studio import Studio
from tests.core.curator.texts import same_key, write_notes


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def tiny_settings(tiny_llama: Path, tmp_path: Path) -> Settings:
    """With a known key: by a drawn one, now and then a part of a few users would stay empty."""
    return same_key(Settings(_env_file=None, data_dir=tmp_path / "data", model=str(tiny_llama)))


@pytest.fixture
def studio(tiny_settings: Settings) -> Iterator[Studio]:
    made = Studio(tiny_settings)
    yield made
    made.jobs.close()
    made.store.close()


@pytest.fixture
def jobs(studio: Studio) -> Jobs:
    return studio.jobs


@pytest.fixture
def uploaded(jobs: Jobs, tmp_path: Path) -> Callable[..., Upload]:
    """Uploads rows as a web server would hand them over."""

    def upload(rows: list[dict[str, str]] | None = None, name: str = "ward.jsonl") -> Upload:
        return jobs.take(write_notes(tmp_path / "web-cache" / name, rows))

    return upload
