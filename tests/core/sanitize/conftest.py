"""Vocabularies: a small one, and the embedded one, loaded once."""

import pytest

from core.sanitize import Vocabulary, load_vocabulary
from core.settings import EMBEDDED, Settings
from tests.core.sanitize.worlds import small_vocabulary


@pytest.fixture(scope="session")
def small() -> Vocabulary:
    return small_vocabulary()


@pytest.fixture(scope="session")
def glove() -> Vocabulary:
    return load_vocabulary(EMBEDDED, Settings(_env_file=None))
