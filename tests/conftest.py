"""Fixtures for all rings: settings in temporary folders, tiny real models."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers fill the cores already; more threads in each would only wait for one another.
    os.environ["OMP_NUM_THREADS"] = "1"
# Some virtual machines advertise AMX and then refuse its instructions; oneDNN would use them for bf16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import httpx
import pytest

from core.settings import Settings
from tests.tiny import make_model
from tests.unfinished import reason

# A machine that is busy answers late, which is no fault. httpx, and gradio_client on it, wait 5 seconds.
_usual = inspect.signature(httpx.get).parameters["timeout"].default
_usual.connect = _usual.read = _usual.write = _usual.pool = 240.0


@pytest.fixture(scope="session", autouse=True)
def own_uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Uploads are named by their content, so two processes of tests would share and delete them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        yield


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
