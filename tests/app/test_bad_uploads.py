"""Bad uploads over HTTP: every door that takes a file answers in a sentence, and in little memory.

The server is a process of its own, so that what it holds is seen. Times are reported and not asserted.
"""

import html
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.settings import Settings
from tests.app.calling import Caller, file_at
from tests.app.conftest import PASSWORD
from tests.core.corpus.uploads import BAD_UPLOADS, BadUpload
from tests.serving import Apart, serve_apart

MEGABYTES = 200
LARGE = 10_000_000  # bytes from which a file is for the slow run
# What takes the file, and the endings that it is offered for.
DOORS = {
    "corpora": ("corpus-file", None),
    "sanitize": ("sanitize-file", (".txt", ".csv", ".jsonl", ".zip")),
    "detect": ("detect-upload", (".txt", ".csv")),
    "teach": ("teach-file", (".csv", ".jsonl")),
    "load": ("teach-load", (".safetensors",)),
}
TRACE = re.compile(r'Traceback|File \\?"/|\.py\\?", line|site-packages')
REFUSED = re.compile(r"notice problem|role=.?.alert")
# What a corpus cannot be, and a text to rewrite or to look at can.
TAKEN = re.compile(r"is rewritten|^\{\"data\": \[\"")


@dataclass
class Door:
    """One way in: the handler behind one element, called as the page calls it."""

    caller: Caller
    element: str

    def __post_init__(self) -> None:
        self.name, self.handler = next(
            (name, each)
            for name, each in self.caller.handlers.items()
            if self.element in map(self._id, each["inputs"])
        )

    def _id(self, number: int) -> str | None:
        return self.caller.components[number]["props"].get("elem_id")

    def send(self, file: dict[str, Any]) -> str:
        """All that the page would show."""
        values = [self._value(number, file) for number in self.handler["inputs"]]
        return html.unescape(json.dumps(self.caller.call(self.name, values), ensure_ascii=False))

    def _value(self, number: int, file: dict[str, Any]) -> Any:
        component = self.caller.components[number]
        if component["type"] == "browserstate":
            return self.caller.token
        return file if self._id(number) == self.element else component["props"].get("value")


@dataclass
class Memory:
    """What a process holds: now, and at most since it was last asked."""

    process: int

    def _megabytes(self, name: str) -> float:
        status = Path(f"/proc/{self.process}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) / 1024

    def begin(self) -> None:
        Path(f"/proc/{self.process}/clear_refs").write_text("5")  # the peak begins at what is held now
        self.before = self._megabytes("VmRSS")

    @property
    def more(self) -> float:
        return self._megabytes("VmHWM") - self.before


@pytest.fixture(scope="module")
def place(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    folder = tmp_path_factory.mktemp("apart")
    settings = Settings(
        _env_file=None, data_dir=folder / "data", model=str(tiny_llama), curator_password=PASSWORD
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "uploads"))
        with serve_apart(settings, folder / "log.txt") as running:
            # The models come in the background after a start; what they take is no upload's doing.
            answer = Caller(running).call("generate", ["The night nurse", 1.0, 0, 1.0, 2, "", ""])
            assert "data" in answer
            yield running


@pytest.fixture(scope="module")
def doors(place: Apart, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Door]:
    """Sanitize is gone through once with a good file: its vectors are read then, and kept."""
    caller = Caller(place, "uploads")
    caller.token = caller.call("sign_in", [PASSWORD])["data"][0]
    found = {name: Door(caller, element) for name, (element, _) in DOORS.items()}
    text = tmp_path_factory.mktemp("good") / "note.txt"
    text.write_text("Room 12 is ready.")
    assert "is rewritten" in found["sanitize"].send(caller.upload(text))
    return found


def files(door: str) -> list[BadUpload]:
    """The bad files that this door is offered; where it takes one kind only, all of them as that kind."""
    endings = DOORS[door][1]
    fit = [bad for bad in BAD_UPLOADS if bad.label != "a folder"]
    if endings == (".safetensors",):
        return [BadUpload(bad.label, "a.safetensors", bad.write, "") for bad in fit if bad.name == "a.txt"]
    return [bad for bad in fit if endings is None or Path(bad.name).suffix in endings]


def tried(place: Apart, door: Door, folder: Path, bads: list[BadUpload], *, large: bool) -> list[str]:
    """Sends every file and gives what is wrong with the answers; prints the worst figures."""
    memory, wrong, worst, count = Memory(place.process.pid), [], {"s": (0.0, ""), "MB": (0.0, "")}, 0
    for bad in bads:
        path = folder / bad.name
        bad.write(path)
        if (path.stat().st_size >= LARGE) == large and path.stat().st_size < 1_000_000_000:
            count += 1
            memory.begin()
            answer, seconds = _answer(place, door, path)
            worst["s"] = max(worst["s"], (seconds, bad.label))
            worst["MB"] = max(worst["MB"], (memory.more, bad.label))
            if TRACE.search(answer) or not (REFUSED.search(answer) or TAKEN.search(answer)):
                wrong.append(f"{bad.label}: {answer[:300]}")
            if memory.more >= MEGABYTES:
                wrong.append(f"{bad.label}: {memory.more:.0f} MB more")
            if door.element == "corpus-file" and bad.says not in answer and "larger than 64 MB" not in answer:
                wrong.append(f"{bad.label} does not say {bad.says!r}: {answer[:300]}")
        path.unlink()
    figures = ", ".join(f"{value:.1f} {unit} ({label})" for unit, (value, label) in worst.items())
    print(f"{door.element}: {count} bad files, at most {figures}")
    assert count
    return wrong


def _answer(place: Apart, door: Door, path: Path) -> tuple[str, float]:
    """What the page would show, and how long the handler took to say it."""
    with path.open("rb") as file:
        sent = httpx.post(f"{place.url}/gradio_api/upload", files={"files": (path.name, file)})
    if sent.status_code == 413:
        return f'role="alert" {sent.text}', 0.0
    begun = time.perf_counter()
    said = door.send(file_at(sent.json()[0]))
    return said, time.perf_counter() - begun


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize("door", DOORS)
def test_every_bad_file_is_a_sentence_in_little_memory(place, doors, tmp_path, door, large):
    # Too many for a corpus, these rows can be rewritten; that takes its time and shows how far it is.
    long = ("too many rows", "too many rows in CSV", "60 million blank text lines")
    bads = [bad for bad in files(door) if door != "sanitize" or bad.label not in long]
    if large and door == "load":
        pytest.skip("the same bytes as in the other doors")
    assert tried(place, doors[door], tmp_path, bads, large=large) == []
    assert place.process.is_running()


def test_at_least_forty_are_tried():
    assert len({bad.label for bad in files("corpora")}) >= 40


NAMES = [
    "../../etc/cron.d/evil.txt", "/etc/passwd", "..\\..\\evil.txt", "evil.txt\0.csv", "a" * 5_000 + ".txt",
    ".", "..", "con.txt:stream", "~root/.ssh/authorized_keys", "%2e%2e%2fevil.txt",
    "a\r\nSet-Cookie: x=1.txt", "\u202egpj.txt", "<img src=x onerror=alert(1)>.txt", "$(id).txt", "studio.db",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_no_name_leads_out_of_the_folder_of_uploads(place, name):
    top = place.log.parent
    before = {path for path in top.rglob("*") if "uploads" not in path.relative_to(top).parts}
    sent = httpx.post(f"{place.url}/gradio_api/upload", files={"files": (name, b"Room 12 is ready.")})
    if sent.status_code == 200:
        stored = Path(sent.json()[0])
        assert (top / "uploads").resolve() in stored.resolve().parents
        stored.unlink()
    else:
        assert not TRACE.search(sent.text)
    after = {path for path in top.rglob("*") if "uploads" not in path.relative_to(top).parts}
    assert {path.name for path in after - before} <= {"studio.db-wal", "studio.db-shm"}
    assert not Path("/etc/cron.d/evil.txt").exists()


FIRST = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'


def _endless(size: int) -> Iterator[bytes]:
    yield FIRST
    for _ in range(size // 1_000_000):
        yield b"a" * 1_000_000


def _parts(count: int) -> bytes:
    return (FIRST + b"a\r\n") * count + b"--x--\r\n"


BODIES: dict[str, tuple[dict[str, str], Any]] = {
    "1 GB, length declared": (
        {"content-length": str(len(FIRST) + 1_000_000_000)},
        lambda: _endless(1_000_000_000),
    ),
    "1 GB, no length": ({}, lambda: _endless(1_000_000_000)),
    "no boundary": ({"content-type": "multipart/form-data"}, b"--x\r\n"),
    "cut short": ({}, FIRST + b"half"),
    "20,000 files": ({}, _parts(20_000)),
    "no form": ({"content-type": "application/json"}, b'{"files": "a.txt"}'),
    "header without end": ({}, b"--x\r\n" + b"A" * 3_000_000),
}


@pytest.mark.parametrize("label", BODIES)
def test_a_bad_request_is_refused_before_it_fills_anything(place, label):
    headers, body = BODIES[label]
    memory = Memory(place.process.pid)
    memory.begin()
    uploads = place.log.parent / "uploads"
    held = sum(path.stat().st_size for path in uploads.rglob("*") if path.is_file())
    try:
        sent = httpx.post(
            f"{place.url}/gradio_api/upload",
            content=body() if callable(body) else body,
            headers={"content-type": "multipart/form-data; boundary=x", **headers},
        )
        assert not TRACE.search(sent.text)
        print(f"{label}: {sent.status_code} {sent.text[:100]!r}, {memory.more:.1f} MB more")
    except (httpx.RemoteProtocolError, httpx.WriteError, httpx.ReadError, httpx.LocalProtocolError):
        print(f"{label}: hung up, {memory.more:.1f} MB more")  # which is an answer too
    assert memory.more < MEGABYTES
    assert sum(path.stat().st_size for path in uploads.rglob("*") if path.is_file()) - held < 70_000_000
    assert httpx.get(place.url).status_code == 200
