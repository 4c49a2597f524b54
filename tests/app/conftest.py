"""A studio over a tiny real model, served once for a file of tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from tests.serving import Served, serve

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The application with a curator's password and a tiny model."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        port=0,
        curator_password=PASSWORD,
        max_upload_mb=1,
    )
    with serve(settings) as running:
        yield running
