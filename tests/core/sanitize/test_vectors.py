"""Vectors from files and by name: every format, every fault one sentence, large files converted once."""

import gzip
import json
import pickle
import struct

import numpy as np
import pytest

from core.errors import InputError, ModelUnavailable
from core.sanitize import load_vectors, load_vocabulary
from core.sanitize.vectors import read_vectors
from core.settings import EMBEDDED, Settings

WORDS = ["tea", "soup", "New York", "naïve"]
VECTORS = np.array([[1.0, 0.5, -2.0], [0.0, 1.0, 0.25], [3.0, 3.0, 3.0], [-1.0, 0.0, 1e-3]], np.float32)


def as_text(header: bool) -> bytes:
    rows = [f"{word} {' '.join(map(repr, row.tolist()))}" for word, row in zip(WORDS, VECTORS, strict=True)]
    return "\n".join([*(["4 3"] if header else []), *rows, ""]).encode()


def as_binary() -> bytes:
    rows = (
        word.replace(" ", "_").encode() + b" " + struct.pack("<3f", *row) + b"\n"
        for word, row in zip(WORDS, VECTORS, strict=True)
    )
    return b"4 3\n" + b"".join(rows)


@pytest.fixture
def own(tmp_path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["glove.txt", "word2vec.txt", "word2vec.bin"])
def test_every_format_gives_the_same_words_and_vectors(own, tmp_path, kind, packed):
    content = as_binary() if kind.endswith("bin") else as_text(kind.startswith("word2vec"))
    path = tmp_path / (kind + ".gz" * packed)
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    words, vectors = read_vectors(str(path), own)
    assert [word.replace("_", " ") for word in words] == WORDS
    assert (vectors == VECTORS).all()


def test_gensim_reads_and_writes_the_same_files(own, tmp_path):
    from gensim.models import KeyedVectors

    theirs = KeyedVectors(3)
    theirs.add_vectors(["tea", "soup"], VECTORS[:2])
    for binary in (False, True):
        path = tmp_path / f"theirs.{binary}"
        theirs.save_word2vec_format(str(path), binary=binary)
        ours = load_vectors(str(path), own)
        assert ours.index_to_key == ["tea", "soup"]
        assert np.array_equal(ours.vectors, theirs.vectors)
        assert ours.most_similar("tea", topn=1)[0][0] == "soup"


def test_a_large_file_is_converted_once_and_again_when_it_changes(own, tmp_path, monkeypatch):
    monkeypatch.setattr("core.sanitize.vectors.WORTH_KEEPING", 0)
    path = tmp_path / "glove.txt"
    path.write_bytes(as_text(False))
    first = read_vectors(str(path), own)
    assert isinstance(first[1], np.memmap)
    monkeypatch.setattr("core.sanitize.vectors.read_vector_file", None)  # a second reading would fail
    words, vectors = read_vectors(str(path), own)
    assert words == WORDS
    assert (vectors == VECTORS).all()
    monkeypatch.undo()
    monkeypatch.setattr("core.sanitize.vectors.WORTH_KEEPING", 0)
    path.write_bytes(as_text(False).replace(b"tea", b"cup"))
    assert read_vectors(str(path), own)[0][0] == "cup"
    assert not list((tmp_path / "cache" / "vectors").glob(".convert-*"))


def test_a_vocabulary_is_loaded_once_and_again_when_its_file_changes(own, tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(as_text(False))
    first = load_vocabulary(str(path), own)
    assert load_vocabulary(str(path), own) is first
    path.write_bytes(as_text(False).replace(b"tea", b"cup"))
    assert "cup" in load_vocabulary(str(path), own)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"tea 1 2 3\nsoup 1 2\n", "line 2 has 2 numbers instead of 3"),
        (b"tea 1 2\nsoup 1 2 3\n", "line 2 has more than 2 numbers"),
        (b"2 3\ntea 1 2 3\nsoup 1 2\n", "line 3 has 2 numbers instead of 3"),
        (b"tea 1 2\nsoup nan 2\n", "vector of 'soup' has a value that is not a finite number"),
        (b"tea 1 2\nsoup 1 inf\n", "vector of 'soup'"),
        (b"tea 1 1e400\n", "vector of 'tea'"),
        (b"tea 1 2\nsoup 1 2\ntea 3 4\n", "the word 'tea' is there twice"),
        (b"tea one two\n", "line 1 has something that is not a number"),
        (b"t\xff 1 2\n", "line 1 is not UTF-8"),
        (b"3 2\ntea 1 2\nsoup 1 2\n", "says 3 words, but it has 2"),
        (b"0 5\n", "says that it is empty"),
        (b"", "it is empty"),
        (b"\n\n", "line 1 has 0 numbers"),
        (as_binary()[:-9], "it ends inside word 4 of 4"),
        (as_binary().replace(b"4 3", b"9 3", 1), "it ends before word 5 of 9"),
        (gzip.compress(as_text(False), mtime=0)[:-20], "damaged or cut short"),
    ],
)
def test_a_fault_in_a_file_is_one_sentence(own, tmp_path, content, sentence):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"vectors.txt cannot be read as word vectors: .*{sentence}"):
        read_vectors(str(path), own)


def test_a_nan_in_a_binary_file_is_found(own, tmp_path):
    path = tmp_path / "v.bin"
    path.write_bytes(b"2 1\na " + struct.pack("<f", 1.0) + b"\nb " + struct.pack("<f", float("nan")))
    with pytest.raises(InputError, match="vector of 'b'"):
        read_vectors(str(path), own)


def test_a_pickle_is_refused_with_the_way_to_convert_it(own, tmp_path):
    path = tmp_path / "vectors.kv"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(InputError, match=r"pickle.*save_word2vec_format"):
        read_vectors(str(path), own)


def test_one_word_is_no_vocabulary(own, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("tea 1 2\n")
    with pytest.raises(InputError, match="at least two words"):
        load_vocabulary(str(path), own)


@pytest.fixture
def gensim_data(tmp_path, monkeypatch):
    """A folder as gensim's downloader leaves it, and no network."""
    from gensim import downloader

    folder = tmp_path / "gensim-data"
    (folder / "tiny-glove-3").mkdir(parents=True)
    (folder / "tiny-glove-3" / "tiny-glove-3.gz").write_bytes(gzip.compress(as_text(True)))
    (folder / "tiny-glove-3" / "__init__.py").write_text("raise SystemExit('downloaded code ran')")
    models = {name: {"file_name": f"{name}.gz", "parts": 1} for name in ("tiny-glove-3", "not-here-5")}
    (folder / "information.json").write_text(json.dumps({"corpora": {}, "models": models}))
    monkeypatch.setattr(downloader, "BASE_DIR", str(folder))
    monkeypatch.setattr(downloader, "DATA_LIST_URL", "http://127.0.0.1:9/list.json")
    monkeypatch.setattr(downloader, "DOWNLOAD_BASE_URL", "http://127.0.0.1:9")
    return folder


@pytest.mark.usefixtures("gensim_data")
def test_a_name_of_gensim_data_loads_without_running_what_came_with_it(own):
    words, vectors = read_vectors("tiny-glove-3", own)
    assert words == WORDS
    assert (vectors == VECTORS).all()


@pytest.mark.usefixtures("gensim_data")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("not-here-5", "gensim-data cannot be reached.*'embedded'"),
        ("no-such-name", "knows no word vectors named 'no-such-name'"),
        ("/no/such/file", "no word vectors at '/no/such/file'"),
    ],
)
def test_vectors_that_cannot_be_had_are_a_sentence(own, name, sentence):
    with pytest.raises(ModelUnavailable, match=sentence):
        read_vectors(name, own)


def test_a_folder_is_no_file_of_vectors(own, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_vectors(str(tmp_path), own)


def test_the_embedded_vocabulary_finds_words_whatever_their_case(glove):
    assert EMBEDDED == "embedded"
    assert len(glove) == 400_000
    assert glove.look_up("Hospital") == glove.look_up("hospital") == glove.index["hospital"]
    assert glove.look_up("145572") is None
    assert all(glove.words[at].isdigit() for at in glove.plain_numbers)
    assert len(glove.plain_numbers) > 3000


def test_a_vocabulary_with_capitals_is_looked_up_as_written_where_it_must(own, tmp_path):
    path = tmp_path / "cased.txt"
    path.write_text("Paris 1 2\nparis 3 4\nBerlin 5 6\n")
    vocabulary = load_vocabulary(str(path), own)
    assert [vocabulary.look_up(word) for word in ("Paris", "PARIS", "Berlin", "berlin")] == [1, 1, 2, None]
