"""The sentence encoder and the word vectors, embedded and from files."""

import pickle

import numpy as np
import pytest

from core.context.encoder import load_encoder
from core.errors import InputError, ModelUnavailable
from core.sanitize.vectors import load_vectors
from core.settings import EMBEDDED


def test_the_embedded_encoder_puts_like_sentences_together(settings):
    encoder = load_encoder(EMBEDDED, settings)
    number, ssn, weather = encoder.encode(
        ["My identity number is", "My social security number is", "It rains on the coast"]
    )
    assert number @ ssn > number @ weather + 0.2


def test_the_embedded_vectors_are_whole_and_mapped_from_disk(settings):
    vectors = load_vectors(EMBEDDED, settings)
    assert vectors.vectors.shape == (400_000, 50)
    assert isinstance(vectors.vectors, np.memmap)
    assert "queen" in [word for word, _ in vectors.most_similar("king", topn=5)]
    assert all(str(number) in vectors.key_to_index for number in range(100))


def test_text_vectors_load_with_and_without_a_header(settings, tmp_path):
    rows = "tea 1.0 0.0\nsoup 0.0 1.0\n"
    for name, head in (("glove.txt", ""), ("word2vec.txt", "2 2\n")):
        (tmp_path / name).write_text(head + rows)
        vectors = load_vectors(str(tmp_path / name), settings)
        assert vectors["soup"].tolist() == [0.0, 1.0]


def test_a_pickle_is_refused_unread(settings, tmp_path):
    path = tmp_path / "vectors.kv"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(InputError, match="pickle"):
        load_vectors(str(path), settings)


@pytest.mark.parametrize("text", ["2 3\ntea 1.0 0.0\n", "tea one two\n", ""])
def test_a_broken_vectors_file_is_a_sentence(settings, tmp_path, text):
    path = tmp_path / "broken.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="cannot be read as word vectors"):
        load_vectors(str(path), settings)


def test_vectors_that_are_not_there_are_a_sentence(settings):
    with pytest.raises(ModelUnavailable, match="embedded"):
        load_vectors("/no/such/file", settings)
