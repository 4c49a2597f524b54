"""Public word vectors by name: the embedded ones, a file, or a name that gensim's downloader knows."""

import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.embedded import WORD_VECTORS, bring
from core.errors import InputError, ModelUnavailable
from core.sanitize.vector_files import read_vector_file
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Matrix = NDArray[np.float32]
WORTH_KEEPING = 16 * 2**20  # bytes; smaller files are read anew each time
_NAME = re.compile(r"[a-z0-9][\w.-]{1,80}", re.IGNORECASE)


def load_vectors(name: str, settings: Settings) -> "KeyedVectors":
    """Word vectors as gensim KeyedVectors, memory-mapped; see `read_vectors` for the names."""
    from gensim.models import KeyedVectors

    words, matrix = read_vectors(name, settings)
    vectors = KeyedVectors(matrix.shape[1], dtype=matrix.dtype)
    # Assigning the mapped matrix keeps it on disk; `add_vectors` would copy all of it into memory.
    vectors.vectors = matrix
    vectors.index_to_key = words
    vectors.key_to_index = {word: index for index, word in enumerate(words)}
    return vectors


def read_vectors(name: str, settings: Settings) -> tuple[list[str], Matrix]:
    """Words, and a row for each of a memory-mapped matrix.

    `name` is `embedded`, a file (GloVe or word2vec text, word2vec binary, each also gzipped), or a name
    from gensim-data such as `glove-wiki-gigaword-100`. A file is checked; a large one is
    also converted once, and the result is kept in the cache for as long as the file does not change.
    """
    if name == EMBEDDED:
        return _embedded(bring(WORD_VECTORS, settings.cache_dir))
    path = Path(name).expanduser()
    if path.is_dir():
        raise InputError(f"{name} is a folder; give a file of word vectors.")
    if not path.is_file():
        path = _from_gensim_data(name)
    return _converted(path, settings.cache_dir / "vectors")


def _embedded(folder: Path) -> tuple[list[str], Matrix]:
    from pyarrow import parquet

    words: list[str] = []
    # in batches: `read_table` would hold the words twice and import pandas
    with parquet.ParquetFile(folder / "words.parquet") as file:
        for batch in file.iter_batches(columns=["index"], use_threads=False):
            words.extend(batch.column(0).to_pylist())
    return words, np.load(folder / "vectors.npy", mmap_mode="r")


def _from_gensim_data(name: str) -> Path:
    """The file of a name in gensim-data, downloaded and checked by its checksum where it is missing."""
    if not _NAME.fullmatch(name):
        raise ModelUnavailable(
            f"There are no word vectors at {name[:80]!r}. Give a text or word2vec .bin file, a name from "
            f"gensim-data, or {EMBEDDED!r}."
        )
    from gensim import downloader

    try:
        # the path only: `load` without it would run the code that comes with the download
        return Path(downloader.load(name, return_path=True))
    except ValueError as error:
        raise ModelUnavailable(
            f"gensim-data knows no word vectors named {name!r}. Check the spelling, or use {EMBEDDED!r}."
        ) from error
    except Exception as error:  # the downloader raises bare Exceptions for a bad checksum and for no network
        raise ModelUnavailable(
            f"The word vectors {name!r} are neither a file here nor downloaded, and gensim-data cannot be "
            f"reached. Use {EMBEDDED!r}, which needs no network, or a file."
        ) from error


def _converted(path: Path, cache: Path) -> tuple[list[str], Matrix]:
    """The file's words and matrix; a large file is converted once, and then mapped from the cache."""
    status = path.stat()
    if status.st_size < WORTH_KEEPING:
        return read_vector_file(path)
    identity = f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
    folder = cache / hashlib.sha256(identity.encode()).hexdigest()[:32]
    if not folder.is_dir():
        _convert(path, folder)
    words = (folder / "words.txt").read_bytes().decode().split("\n")
    return words, np.load(folder / "vectors.npy", mmap_mode="r")


def _convert(path: Path, folder: Path) -> None:
    words, matrix = read_vector_file(path)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".convert-") as name:
            staging = Path(name) / "whole"
            staging.mkdir()
            np.save(staging / "vectors.npy", matrix)
            (staging / "words.txt").write_bytes("\n".join(words).encode())
            staging.rename(folder)
    except OSError as error:
        if folder.is_dir():  # somebody else converted the same file meanwhile
            return
        raise ModelUnavailable(
            f"The cache {folder.parent} cannot be written ({error.strerror or error}). "
            "Set SUBMIX_CACHE_DIR to a folder that can."
        ) from error
