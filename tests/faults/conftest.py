from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from tests.core.store.postgres import Server, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url="")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def any_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").database()
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url=url)
