"""Teaching changes what is asked for, keeps the rest, and the shipped detector can always be had back."""

import numpy as np
import pytest

from core.context.classifier import ClassifierScorer
from core.context.detector import SHIPPED, Detector
from core.context.evaluate import evaluate
from core.context.learning.teach import teach
from core.context.saved import delete_detector, save_detector, saved_names
from core.context.scorer import HeadScorer
from core.errors import InputError

RARE = "The heron nests by the third weir."
PLAIN = "My number at the archery club is 212."


def test_what_is_taught_is_learned_and_the_given_detector_stays(shipped):
    before = shipped.score([RARE, PLAIN]).copy()
    flip = [before[0] < shipped.threshold, before[1] < shipped.threshold]
    sensitive = [text for text, low in zip((RARE, PLAIN), flip, strict=True) if low]
    harmless = [text for text, low in zip((RARE, PLAIN), flip, strict=True) if not low]
    taught = teach(shipped, sensitive, harmless)
    assert taught.not_learned == ()
    after = taught.detector.score([RARE, PLAIN])
    assert [score >= shipped.threshold for score in after] == flip
    assert (shipped.score([RARE, PLAIN]) == before).all()


def test_teaching_one_sentence_costs_little_elsewhere(shipped):
    card = evaluate(teach(shipped, [RARE], []).detector)
    old = evaluate(shipped)
    assert card.detector.recall.value > old.detector.recall.value - 0.01
    assert card.detector.false_positives.value < old.detector.false_positives.value + 0.01


def test_a_taught_detector_comes_back_from_disk_and_so_does_the_shipped_one(shipped, settings):
    taught = teach(shipped, [RARE], []).detector.at(0.4)
    save_detector(taught, "our house", settings)
    again = Detector.load(settings, "our house")
    texts = [RARE, PLAIN, "My PIN is 4417."]
    np.testing.assert_allclose(again.score(texts), taught.score(texts), atol=1e-6)
    assert again.threshold == 0.4
    assert isinstance(again.scorer, HeadScorer)
    assert again.scorer.head.about.taught == (1, 0)
    assert saved_names(settings) == ("our house",)
    back = Detector.load(settings, SHIPPED)
    np.testing.assert_allclose(back.score(texts), shipped.score(texts))
    delete_detector("our house", settings)
    assert saved_names(settings) == ()


def test_saving_again_takes_the_place_of_the_old_one(tiny, settings):
    save_detector(tiny, "a", settings)
    save_detector(tiny.at(0.3), "a", settings)
    from core.context.head import Head

    assert Head.load(settings.data_dir / "detectors" / "a").threshold == 0.3
    assert [path.name for path in (settings.data_dir / "detectors").iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", SHIPPED, "x" * 100, "\0"])
def test_no_other_name_can_be_saved(tiny, settings, name):
    with pytest.raises(InputError, match="cannot be a detector's name"):
        save_detector(tiny, name, settings)


@pytest.mark.parametrize(
    ("sensitive", "harmless", "said"),
    [
        ([], ["  "], "nothing to learn"),
        (["a"], ["a"], "sensitive and as harmless"),
        (["x" * 3000], [], "2,000 characters"),
        ([f"s{i}" for i in range(501)], [], "at most 500"),
    ],
)
def test_what_cannot_be_taught_is_a_sentence(tiny, sensitive, harmless, said):
    with pytest.raises(InputError, match=said):
        teach(tiny, sensitive, harmless)


def test_a_fine_tuned_classifier_is_not_taught():
    with pytest.raises(InputError, match="trained again"):
        teach(Detector("c", ClassifierScorer(None, None), 0.5), ["a"], [])


def test_a_label_that_contradicts_what_is_known_is_learned_by_weight(tiny):
    texts = [f"My PIN is {i}{i}{i}." for i in range(8)]
    flagged = tiny.score(texts) >= tiny.threshold
    taught = teach(
        tiny,
        [t for t, f in zip(texts, flagged, strict=True) if not f],
        [t for t, f in zip(texts, flagged, strict=True) if f],
    )
    after = taught.detector.score(texts) >= tiny.threshold
    learned = [text not in taught.not_learned for text in texts]
    assert ((after != flagged) == learned).all()
    assert sum(learned) >= 1
