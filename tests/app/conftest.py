"""A studio over a tiny real model, served once for a file of tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from tests.ensembles import make_ensemble
from tests.serving import Served, serve

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The application with a curator's password, a tiny model, and a synthetic and a private corpus."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        port=0,
        curator_password=PASSWORD,
        max_upload_mb=1,
    )
    make_ensemble(settings, "notes", synthetic=True)
    make_ensemble(settings, "ward", synthetic=False, queries=5000)
    with serve(settings) as running:
        yield running
