"""A flag depends on its sequence alone, and formats are not contexts."""

import random

import numpy as np
import pytest

from core.context.cadp.flags import ContextFlags, EveryFlag, FormatFlags, NoFlag, flagger_for
from core.errors import InputError

TEXTS = [
    "My bank security code is 450.",
    "The code of my bank card is four five zero.",
    "Call me at (212) 555-0187 after six.",
    "Write to jane@example.com about it.",
    "The card is 4111 1111 1111 1111.",
    "The museum opened in 1999 and has 12 rooms.",
    "Soup, tea and bread.",
]


class WordDetector:
    """Scores by a word: all that the flags need of a detector."""

    threshold = 0.5

    def passages(self, texts):
        return np.array([0.9 if "bank" in text else 0.1 for text in texts])


FLAGGERS = [
    ContextFlags(WordDetector()),
    FormatFlags("digits"),
    FormatFlags("patterns"),
    EveryFlag(),
    NoFlag(),
]


@pytest.mark.parametrize("flagger", FLAGGERS, ids=lambda flagger: flagger.name)
def test_the_flagged_set_never_depends_on_the_order_or_on_the_company(flagger):
    wanted = dict(zip(TEXTS, flagger.flags(TEXTS), strict=True))
    rng = random.Random(0)
    for _ in range(5):
        some = rng.sample(TEXTS, rng.randint(1, len(TEXTS)))
        assert flagger.flags(some) == [wanted[text] for text in some]
    assert flagger.flags([]) == []


def test_formats_flag_digits_or_patterns_and_miss_a_secret_in_words():
    assert FormatFlags("digits").flags(TEXTS) == [True, False, True, False, True, True, False]
    assert FormatFlags("patterns").flags(TEXTS) == [False, False, True, True, True, False, False]


def test_context_flags_follow_the_detector_and_its_threshold():
    assert ContextFlags(WordDetector()).flags(TEXTS) == [True, True, False, False, False, False, False]
    strict = WordDetector()
    strict.threshold = 0.95
    assert not any(ContextFlags(strict).flags(TEXTS))


def test_each_mechanism_has_its_flags():
    assert isinstance(flagger_for("cadp", WordDetector()), ContextFlags)
    assert isinstance(flagger_for("s-dpsgd"), FormatFlags)
    assert isinstance(flagger_for("dp-sgd"), EveryFlag)
    assert isinstance(flagger_for("none"), NoFlag)
    with pytest.raises(InputError, match="detector"):
        flagger_for("cadp")
    with pytest.raises(InputError, match="one of"):
        flagger_for("pate")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="digits"):
        FormatFlags("letters")  # type: ignore[arg-type]


def test_the_shipped_detector_flags_the_paper_s_canary_whatever_stands_beside_it(settings):
    from core.context import Detector

    flagger = ContextFlags(Detector.load(settings))
    wanted = dict(zip(TEXTS, flagger.flags(TEXTS), strict=True))
    assert wanted[TEXTS[0]]
    assert not wanted["Soup, tea and bread."]
    for text in TEXTS:
        assert flagger.flags([text]) == [wanted[text]]
    assert flagger.flags(TEXTS[::-1]) == [wanted[text] for text in TEXTS[::-1]]
