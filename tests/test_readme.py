"""What the README says is so."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gradio
import numpy as np
import pytest

from core.settings import Settings
from tests.ensembles import make_ensemble
from tests.serving import serve

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_space_runs_the_gradio_that_is_pinned_and_installed():
    front = README.split("---")[1]
    version = re.search(r"sdk_version: (\S+)", front).group(1)
    assert f"gradio[mcp]=={version}\n" in (ROOT / "requirements.txt").read_text()
    assert version == gradio.__version__
    assert "sdk: gradio" in front
    assert "app_file: app.py" in front


def test_every_picture_is_there():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


def test_every_command_exists():
    commands = re.findall(r"^python -m core ([a-z]+(?: [a-z]+)?)(?: [A-Z]+)?  ", README, re.MULTILINE)
    assert len(commands) >= 7
    for command in commands:
        asked = [sys.executable, "-m", "core", *command.split(), "--help"]
        assert subprocess.run(asked, cwd=ROOT, capture_output=True, check=False).returncode == 0, command


@pytest.fixture(scope="module")
def studio(tiny_llama, tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    settings = Settings(_env_file=None, data_dir=data, model=str(tiny_llama), port=0)
    make_ensemble(settings, "notes", synthetic=True)
    with serve(settings) as served:
        yield served


def printed_by(example: str, url: str) -> list:
    """What an example of the README prints when it is run against this address."""
    code = re.search(rf"```python\n({example}.*?)```", README, re.DOTALL).group(1)
    printed: list = []
    run = {"print": lambda *said: printed.append(said if len(said) > 1 else said[0])}
    with ThreadPoolExecutor(1) as apart:  # a thread has no event loop yet, whatever ran here before
        apart.submit(exec, code.replace("http://127.0.0.1:7860", url), run).result()
    return printed


def test_the_api_example_runs(studio):
    quote, *steps, budget = printed_by("from gradio_client", studio.url)
    assert 0.0 < quote <= 2.0
    assert steps  # one at least: a tiny model may end its answer with its first token
    assert steps[-1][0].startswith(steps[0][0])
    assert steps[-1][1]["tokens"] == budget["used"] == len(steps)
    assert steps[-1][1]["cost"] <= quote


def test_the_tool_example_runs(studio):
    tools, answer = printed_by("import asyncio", studio.url)
    assert {"generate", "budget", "quote", "corpora"} <= set(tools)
    assert answer.strip()


def test_the_protocol_example_runs():
    example = re.search(r"```python\n(from core.predict.*?)```", README, re.DOTALL).group(1)
    pmfs = np.random.default_rng(1).dirichlet(np.ones(20), 9)
    names: dict = {"public": pmfs[0], "parts": pmfs[1:]}
    exec(example, names)
    assert names["step"].private
    assert names["step"].losses.max() < 2.0


@pytest.mark.parametrize("name", ["run", "test", "test-all", "bench", "lint", "clean"])
def test_make_has_the_target(name):
    assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_core_never_imports_gradio():
    """Also not in passing: importing all of core brings no gradio with it."""
    code = (
        "import pkgutil, importlib, sys, core\n"
        "skip = ('core.__main__', 'core.store.migrations')\n"
        "for m in pkgutil.walk_packages(core.__path__, 'core.'):\n"
        "    if not m.name.startswith(skip): importlib.import_module(m.name)\n"
        "sys.exit('gradio' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("module", ["core.__main__", "app.main"])
def test_a_start_does_not_wait_for_the_models_libraries(module):
    """The page is served first; torch and transformers come in behind it."""
    code = f"import sys, {module}; sys.exit(bool({{'torch', 'transformers', 'scipy'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
