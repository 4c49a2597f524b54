"""Fixtures for all rings: settings in temporary folders, tiny real models."""

import os
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers fill the cores already; more threads in each would only wait for one another.
    os.environ["OMP_NUM_THREADS"] = "1"
# Some virtual machines advertise AMX and then refuse its instructions; oneDNN would use them for bf16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import pytest

from core.settings import Settings
from tests.tiny import make_model
from tests.unfinished import reason


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that touch nothing outside the test's own folder but the shared model cache."""
    return Settings(_env_file=None, data_dir=tmp_path / "data")


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Llama-type model."""
    return make_model(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny GPT-2-type model."""
    return make_model(tmp_path_factory.mktemp("gpt2"), "gpt2")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is still in the making is shown as such and not run."""
    for item in items:
        why = reason(item.nodeid)
        if why is not None:
            item.add_marker(pytest.mark.xfail(reason=f"in the making: {why}", run=False))
