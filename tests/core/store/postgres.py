"""A throwaway PostgreSQL server in a temporary folder, on a unix socket, as an unprivileged user."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

OWNER = "submix"


def _binaries() -> Path | None:
    found = shutil.which("pg_ctl")
    candidates = [Path(found).parent] if found else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def _server_user() -> pwd.struct_passwd | None:
    """Who runs the server: ourselves, but never root, whom PostgreSQL refuses."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """A running server; every `database()` is new and empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://{OWNER}@/{name}?host={self._folder}"

    def database(self) -> str:
        self._count += 1
        name = f"studio{self._count}"
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)


@contextmanager
def postgres_server() -> Iterator[Server]:
    binaries, user = _binaries(), _server_user()
    if binaries is None or user is None:
        pytest.skip("PostgreSQL's server programs are not installed here")
    folder = Path(tempfile.mkdtemp(prefix="submix-pg-"))
    data = folder / "data"
    root = os.geteuid() == 0

    def run(*command: str) -> None:
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=(folder / "out.txt").open("a"),
            stderr=subprocess.STDOUT,
            timeout=120,
            user=user.pw_uid if root else None,
            group=user.pw_gid if root else None,
        )

    try:
        os.chown(folder, user.pw_uid, user.pw_gid)
        run(str(binaries / "initdb"), "-D", str(data), "-U", OWNER, "-A", "trust", "--no-sync")
        options = f"-c listen_addresses='' -k {folder} -c max_connections=200"
        control = str(binaries / "pg_ctl")
        run(control, "-D", str(data), "-l", str(folder / "log.txt"), "-o", options, "-w", "start")
        try:
            yield Server(folder)
        finally:
            run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
