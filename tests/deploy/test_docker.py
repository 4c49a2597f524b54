"""The Dockerfile's steps, in order, with what it copies and sets; then the image as it runs, read-only."""

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import browser  # noqa: F401 - the fixture
from tests.deploy.conftest import ROOT, USER, Fresh, free_port, network, owned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@dataclass(frozen=True)
class Step:
    """One instruction with its continuation lines joined."""

    name: str
    rest: str


def steps() -> list[Step]:
    """The instructions of the Dockerfile."""
    joined = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split(None, 1) for line in joined.splitlines() if line.strip() and line[0] != "#"]
    return [Step(name, rest.strip()) for name, rest in lines]


def only(name: str, containing: str = "") -> str:
    """The one instruction of that name with those words."""
    found = [step.rest for step in steps() if step.name == name and containing in step.rest]
    assert len(found) == 1, (name, containing, found)
    return found[0]


def environment() -> dict[str, str]:
    """What the ENV instruction sets."""
    return dict(part.split("=", 1) for part in shlex.split(only("ENV")))


def test_the_steps_are_those_that_are_rehearsed_here() -> None:
    names = [step.name for step in steps()]
    assert names == [
        "FROM", "RUN", "USER", "WORKDIR", "ENV", "COPY", "RUN", "COPY", "RUN", "VOLUME", "EXPOSE",
        "HEALTHCHECK", "CMD",
    ]  # fmt: skip
    assert only("USER") == str(USER)
    assert only("RUN", "pip").endswith("--requirement requirements.txt")
    assert only("VOLUME") == environment()["SUBMIX_DATA_DIR"]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "tests", ".env"} <= set(ignored)


def test_the_image_runs_read_only_but_for_its_volume_and_is_healthy(
    fresh: Fresh,
    browser: Browser,  # noqa: F811
) -> None:
    home = owned(fresh.project.parent / "image-home")
    volume, port = owned(home / "data"), free_port()
    places = {"/data": str(volume), "/home/studio": str(home)}

    def here(value: str) -> str:
        for place, ours in places.items():
            value = value.replace(place, ours)
        return value

    settings = {name: here(value) for name, value in environment().items() if name != "PATH"}
    settings |= {"SUBMIX_PORT": str(port), "SUBMIX_HOST": "127.0.0.1"}
    owned(Path(settings["SUBMIX_CACHE_DIR"]))
    build = shlex.split(only("RUN", "core models"))
    subprocess.run(
        ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", str(fresh.python), *build[1:]],
        cwd=fresh.project,
        env={**network(), **settings, "HOME": str(home), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    command = json.loads(only("CMD"))
    sealed = (
        f"mount --make-rprivate / && mount --bind {volume} {volume} && mount -o remount,bind,ro / && "
        f"exec setpriv --reuid={USER} --regid={USER} --clear-groups {fresh.python} {shlex.join(command[1:])}"
    )
    with fresh.running(["unshare", "--mount", "sh", "-c", sealed], home, port, settings, user=False) as url:
        health = json.loads(only("HEALTHCHECK").split("CMD", 1)[1])
        script = health[-1].replace("7860", str(port))
        subprocess.run([fresh.python, "-c", script], check=True)
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto(f"{url}/?length=8")
        page.click("#generate")
        expect(page.locator("#verdict .notice.done")).to_be_visible(timeout=600_000)
        page.goto(f"{url}/?panel=sanitize")
        page.click("#rewrite")
        expect(page.locator("#sanitized-chosen .marked")).to_be_visible(timeout=600_000)
        page.close()
    assert (volume / "studio.db").is_file()
