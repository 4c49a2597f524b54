"""Fixtures of the detector's tests: a tiny sentence encoder, a head on it, and the shipped detector."""

import numpy as np
import pytest

from core.context.detector import Detector
from core.context.encoder import load_encoder
from core.context.learning.families import load_families
from core.settings import Settings
from tests.core.context.tiny_encoder import make_encoder, tiny_detector


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """A tiny sentence-transformers model."""
    folder = make_encoder(tmp_path_factory.mktemp("encoder"))
    return load_encoder(str(folder), Settings(_env_file=None))


@pytest.fixture
def tiny(tiny_encoder, tmp_path):
    """A detector with a random head on the tiny encoder, and all that teaching needs beside it."""
    return tiny_detector(tiny_encoder, tmp_path / "assets")


@pytest.fixture(scope="session")
def shipped():
    """The detector that ships, on the embedded encoder."""
    return Detector.load(Settings(_env_file=None))


@pytest.fixture(scope="session")
def some_families():
    """Two sensitive and two harmless families."""
    wanted = ("card PIN", "salary", "weather", "queue and ticket numbers")
    return [family for family in load_families() if family.name in wanted]


@pytest.fixture
def draw():
    """Reproducible randomness."""
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def tiny_session(tiny_encoder, tmp_path_factory):
    """The tiny detector for tests that change nothing."""
    return tiny_detector(tiny_encoder, tmp_path_factory.mktemp("assets"))
