import pytest

from core.lm.public import load_public
from core.settings import Settings
from tests.core.attack.notes import memorised, notes
from tests.core.attack.tiny import memorising_model


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A tiny model that can memorise."""
    folder = memorising_model(tmp_path_factory.mktemp("memorising"))
    return load_public(str(folder), Settings(_env_file=None))


@pytest.fixture(scope="session")
def members():
    return notes(16, seed=0)


@pytest.fixture(scope="session")
def subject(tiny, members):
    """Two parts and the whole that memorised sixteen notes."""
    return memorised(tiny, members)


@pytest.fixture
def tiny_settings(settings, tiny_llama):
    """Settings of a studio on a tiny model."""
    return settings.model_copy(update={"model": str(tiny_llama)})
