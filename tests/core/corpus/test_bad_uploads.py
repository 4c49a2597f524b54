"""Every bad upload is one sentence, in little memory, and leaves nothing behind."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.corpus import read_corpus
from core.errors import InputError
from tests.core.corpus.uploads import BAD_UPLOADS, BadUpload

MEGABYTES = 200


def _resident_mb() -> float:
    """Resident memory now; Linux only, elsewhere 0 so that only the other checks count."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 / 2**20 if status.exists() else 0.0


class _Peak:
    """Samples resident memory while a block runs."""

    def __enter__(self) -> "_Peak":
        self.start = self.peak = _resident_mb()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.peak = max(self.peak, _resident_mb())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


@pytest.mark.parametrize("bad", BAD_UPLOADS, ids=lambda bad: bad.label)
def test_bad_upload_is_a_sentence_within_200_mb(bad: BadUpload, tmp_path: Path) -> None:
    path = tmp_path / bad.name
    bad.write(path)
    with _Peak() as memory, pytest.raises(InputError) as caught:
        read_corpus(path)
    assert memory.peak - memory.start < MEGABYTES
    sentence = str(caught.value)
    assert bad.says in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert list(tmp_path.iterdir()) == [path]


def test_at_least_forty_bad_uploads_are_tried() -> None:
    assert len(BAD_UPLOADS) >= 40
    assert len({bad.label for bad in BAD_UPLOADS}) == len(BAD_UPLOADS)


def test_reading_never_loads_pickle_of_an_upload(tmp_path: Path) -> None:
    """The pickle would write a file if anything unpickled it."""
    proof = tmp_path / "proof"
    for name in ("a.csv", "a.txt", "a.jsonl", "a.parquet", "a.zip"):
        path = tmp_path / name
        path.write_bytes(b"cbuiltins\nopen\n(V" + str(proof).encode() + b"\nVw\ntR.")
        with pytest.raises(InputError):
            read_corpus(path)
    assert not proof.exists()


def test_importing_the_room_stays_light() -> None:
    """The pages start with this import, so the heavy libraries wait until a file needs them."""
    heavy = ("pyarrow", "faker", "torch", "pandas")
    code = f"import sys, core.corpus; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
