"""The card says what is guaranteed and what is not, and nothing more."""

import json
import math
from dataclasses import replace

import pytest

from core.context.cadp.card import CadpCard, Recall, group_guarantee
from core.errors import InputError

CARD = CadpCard(
    mechanism="cadp",
    model="adapters",
    flags="context detector",
    epsilon=7.98,
    delta=1e-5,
    noise=0.61,
    clip=1.0,
    rate=0.012,
    steps=250,
    sequences=2600,
    flagged=40,
    merged=3,
    length=64,
    optimizer="adam, updates together",
    secure=True,
    recall=Recall(299, 299),
)


def text(card: CadpCard) -> str:
    return " ".join(card.sentences())


def test_the_bound_on_recall_is_clopper_pearson_s():
    assert Recall(299, 299).lower_bound == pytest.approx(0.9900, abs=5e-5)
    assert Recall(0, 10).lower_bound == 0.0
    assert Recall(95, 100).lower_bound == pytest.approx(0.8977, abs=5e-4)
    for found, of in [(5, 4), (-1, 4), (0, 0)]:
        with pytest.raises(InputError):
            Recall(found, of)


def test_the_card_of_cadp_says_all_that_must_be_said():
    said = text(CARD)
    assert "(7.98, 1e-05)-differential privacy" in said
    assert "40 of 2,600 are flagged" in said
    assert "299 of 299" in said
    assert "at most 1.00% of such sentences are unprotected" in said
    assert "missed has no guarantee at all" in said
    assert "not a person" in said
    assert "2,560 sequences were learned from without privacy" in said
    assert "noisy sums alone" in said
    assert "empty batches included" in said
    assert "epsilon 16" in said  # what stands in two sequences
    assert "operating system's randomness" in said


def test_the_detector_s_misses_are_never_hidden_in_delta():
    weak = replace(CARD, recall=Recall(60, 100, by_family=0.4))
    assert "(7.98, 1e-05)" in text(weak)
    assert "at most 48.70% of such sentences are unprotected (60.00% when whole families" in text(weak)
    assert "was not measured" in text(replace(CARD, recall=None))


def test_without_noise_with_a_seed_or_without_privacy_nothing_is_claimed():
    for card in (
        replace(CARD, mechanism="none", epsilon=math.inf),
        replace(CARD, secure=False),
        replace(CARD, epsilon=math.inf, noise=0.0),
        replace(CARD, epsilon=4000.0, noise=0.05),
    ):
        (only,) = card.sentences()
        assert only.startswith("Nothing is guaranteed")
        assert not card.guaranteed


def test_the_other_mechanisms_say_what_is_different_about_them():
    everything = replace(CARD, mechanism="dp-sgd", flagged=2600, recall=None)
    assert "without privacy" not in text(everything)
    assert "2,600 of 2,600" in text(everything)
    formats = replace(CARD, mechanism="s-dpsgd", flags="any digit", recall=None)
    assert "secrets of other formats are missed" in text(formats)
    assert [card.title for card in (CARD, everything, formats)] == [
        "CADP, epsilon 7.98", "DP-SGD, epsilon 7.98", "S-DPSGD, epsilon 7.98",
    ]  # fmt: skip


def test_a_delta_that_is_too_large_is_named():
    assert "Delta should be below" in text(replace(CARD, delta=0.05))
    assert "Delta should be below" not in text(CARD)


def test_no_card_calls_text_private():
    for mechanism in ("cadp", "s-dpsgd", "dp-sgd", "none"):
        said = text(replace(CARD, mechanism=mechanism)).lower()
        assert "dp text" not in said
        assert "!" not in said


def test_what_stands_in_several_sequences_is_covered_less():
    assert group_guarantee(2.0, 1e-6, 1) == (2.0, 1e-6)
    epsilon, delta = group_guarantee(2.0, 1e-6, 3)
    assert epsilon == 6.0
    assert delta == pytest.approx(1e-6 * (1.0 + math.exp(2.0) + math.exp(4.0)))
    assert group_guarantee(2.0, 1e-6, 1000) == (2000.0, 1.0)
    assert group_guarantee(math.inf, 1e-6, 5) == (math.inf, 1e-6)


def test_the_card_goes_through_json():
    for card in (CARD, replace(CARD, epsilon=math.inf, recall=None)):
        values = json.loads(json.dumps(card.values(), allow_nan=False))
        assert CadpCard.of(values) == card
