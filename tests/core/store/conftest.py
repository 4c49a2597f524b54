from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from core.store import Store, open_store
from tests.core.store.postgres import Server, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings for a new database of each kind that we promise."""
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").database()
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url=url)


@pytest.fixture
def sqlite_settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", database_url="")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with open_store(settings) as opened:
        yield opened
