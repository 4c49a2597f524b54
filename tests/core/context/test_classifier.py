"""The fine-tuned alternative: a tiny DistilBERT learns, comes back from disk, and answers the same call."""

import numpy as np
import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizer, DistilBertConfig, DistilBertModel

from core.context.classifier import FineTuning, fine_tune
from core.context.detector import Detector
from core.context.learning.widen import targets
from core.context.saved import save_detector
from core.errors import InputError, ModelUnavailable

PLAN = FineTuning(epochs=10, rate=3e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, some_families):
    """A random DistilBERT, as the hub would give it: a body without a classifier."""
    folder = tmp_path_factory.mktemp("distilbert")
    words = BertWordPieceTokenizer(lowercase=True)
    words.train_from_iterator(
        [line for family in some_families for line in family.lines], vocab_size=400, show_progress=False
    )
    words.save_model(str(folder))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = DistilBertConfig(vocab_size=words.get_vocab_size(), dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    DistilBertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tuned(folder, some_families):
    return fine_tune(str(folder), targets(some_families, fillings=1), PLAN)


def test_it_learns_its_families(tuned, some_families):
    examples = [
        example for family in some_families for example in family.examples(seed=3) if not example.before
    ]
    scores = tuned.score([example.text for example in examples])
    right = (scores >= 0.5) == [example.sensitive for example in examples]
    assert right.mean() > 0.9


def test_the_same_seed_gives_the_same_classifier(folder, tuned, some_families):
    again = fine_tune(str(folder), targets(some_families, fillings=1), PLAN)
    assert (again.score(["My PIN is 4417."]) == tuned.score(["My PIN is 4417."])).all()


def test_it_reads_texts_like_any_detector(tuned):
    text = "It rains. The PIN for my card is 4417. 🙂"
    found = tuned.detect(text)
    assert [text[each.start : each.end] for each in found] == [
        "It rains.",
        "The PIN for my card is 4417.",
        "🙂",
    ]
    (score,) = tuned.score(["The PIN for my card is 4417."], ["It rains."])
    assert found[1].score == pytest.approx(score, abs=1e-5)
    assert tuned.nearest_families("x") == ()


def test_it_comes_back_from_disk_without_a_pickle(tuned, settings):
    where = save_detector(tuned.at(0.3), "distil", settings)
    assert not [path for path in where.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]
    for name in ("distil", str(where)):
        again = Detector.load(settings, name)
        assert again.threshold == 0.3
        np.testing.assert_allclose(
            again.score(["My PIN is 4417."]), tuned.score(["My PIN is 4417."]), atol=1e-6
        )


def test_a_name_that_cannot_be_had_and_a_model_that_is_no_detector_are_sentences(
    folder, settings, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="distilbert-base-uncased"):
        fine_tune("distilbert-base-uncased", targets([], fillings=1) or [None])  # type: ignore[list-item]
    with pytest.raises(ModelUnavailable, match="not one that was trained as a detector"):
        Detector.load(settings, str(folder))
    with pytest.raises(InputError, match="no sentences"):
        fine_tune(str(folder), [])
