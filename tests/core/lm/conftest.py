from pathlib import Path

import pytest

from core.lm.public import PublicModel
from tests.core.lm.tiny import tiny_public


@pytest.fixture(scope="session", params=["llama", "gpt2"])
def public(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PublicModel:
    folder: Path = tmp_path_factory.mktemp(request.param)
    return tiny_public(request.param, folder)
