"""A head on disk: safetensors and JSON, nothing that runs, and nothing broken gets in."""

import json
import pickletools
from dataclasses import replace

import numpy as np
import pytest

from core.context.head import ABOUT, UNITS, Head
from core.context.reader import Reader
from core.errors import InputError, ModelUnavailable
from tests.core.context.tiny_encoder import random_head


@pytest.fixture
def saved(tmp_path):
    head = random_head()
    head.save(tmp_path / "head")
    return head, tmp_path / "head"


def test_a_head_comes_back_as_it_was(saved, tiny_encoder):
    head, folder = saved
    again = Head.load(folder)
    features = Reader(tiny_encoder, head).features(["My PIN is 4412."], [""])
    assert again.probabilities(
        Reader(tiny_encoder, again).features(["My PIN is 4412."], [""])
    ) == pytest.approx(head.probabilities(features))
    assert (again.threshold, again.about) == (head.threshold, head.about)


def test_the_folder_holds_no_pickle(saved):
    _, folder = saved
    assert {path.name for path in folder.iterdir()} == {"head.safetensors", "head.json"}
    with pytest.raises(ValueError, match=r".*"):
        list(pickletools.genops((folder / UNITS).read_bytes()))


def test_loading_never_unpickles(saved, monkeypatch):
    import pickle

    monkeypatch.setattr(pickle, "load", lambda *_: pytest.fail("unpickled"))
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("unpickled"))
    Head.load(saved[1])


@pytest.mark.parametrize("content", [b"", b"{", b"\x80\x04K\x01.", b'{"version": 2}', b"[]"])
def test_broken_facts_are_a_sentence(saved, content):
    (saved[1] / ABOUT).write_bytes(content)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        Head.load(saved[1])


def test_broken_weights_are_a_sentence(saved):
    (saved[1] / UNITS).write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        Head.load(saved[1])


def test_a_head_of_another_version_and_one_with_nan_are_refused(saved):
    head, folder = saved
    facts = json.loads((folder / ABOUT).read_text())
    (folder / ABOUT).write_text(json.dumps({**facts, "version": 1}))
    with pytest.raises(InputError, match="another version"):
        Head.load(folder)
    replace(head, weights=head.weights * np.nan).save(folder)
    with pytest.raises(ModelUnavailable, match="numbers that are none"):
        Head.load(folder)


def test_no_head_is_a_sentence(tmp_path):
    with pytest.raises(ModelUnavailable, match="no detector"):
        Head.load(tmp_path)
