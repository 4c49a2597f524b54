"""Public word vectors as gensim KeyedVectors, memory-mapped."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.embedded import WORD_VECTORS, bring
from core.errors import InputError, ModelUnavailable
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def load_vectors(name: str, settings: Settings) -> "KeyedVectors":
    """Word vectors by name: `embedded`, a file in word2vec or GloVe text format, or a word2vec binary.

    gensim's own `.save()` format is a pickle and is refused: loading one runs whatever is in it.
    """
    if name == EMBEDDED:
        return _embedded(bring(WORD_VECTORS, settings.cache_dir))
    path = Path(name).expanduser()
    if not path.is_file():
        raise ModelUnavailable(
            f"There are no word vectors at {name!r}. Give a text or word2vec .bin file, or use {EMBEDDED!r}."
        )
    return _from_file(path)


@lru_cache(maxsize=1)
def _embedded(folder: Path) -> "KeyedVectors":
    from gensim.models import KeyedVectors
    from pyarrow import parquet

    words = parquet.read_table(folder / "words.parquet")["index"].to_pylist()
    matrix = np.load(folder / "vectors.npy", mmap_mode="r")
    vectors = KeyedVectors(matrix.shape[1], dtype=matrix.dtype)
    # Assigning the mapped matrix keeps it on disk; `add_vectors` would copy all of it into memory.
    vectors.vectors = matrix
    vectors.index_to_key = words
    vectors.key_to_index = {word: index for index, word in enumerate(words)}
    return vectors


def _from_file(path: Path) -> "KeyedVectors":
    from gensim.models import KeyedVectors

    with path.open("rb") as file:
        if file.read(2).startswith(b"\x80"):
            raise InputError(f"{path.name} is a pickle, which can run code when it is loaded: it is refused.")
    try:
        if path.suffix == ".bin":
            return KeyedVectors.load_word2vec_format(str(path), binary=True)
        return KeyedVectors.load_word2vec_format(str(path), binary=False, no_header=not _has_header(path))
    except (ValueError, TypeError, EOFError) as error:
        raise InputError(f"{path.name} cannot be read as word vectors: {error}.") from error


def _has_header(path: Path) -> bool:
    """word2vec text starts with a line of two numbers, GloVe text with the first word."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return len(file.readline().split()) == 2
