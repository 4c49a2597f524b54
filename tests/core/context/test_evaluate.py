"""The card: every number from raw counts, and the shipped detector reaches it."""

import json

import numpy as np
import pytest

from core.context.card import Card, card_sentences
from core.context.evaluate import evaluate, format_scores, held_out_examples, result, share_of
from core.context.learning.families import Example, load_families
from core.context.saved import CARD
from core.errors import InputError

EXAMPLES = [Example(f"s{i}", True, f"sf{i % 3}") for i in range(30)] + [
    Example(f"h{i}", False, f"hf{i % 2}") for i in range(20)
]


@pytest.fixture(scope="module")
def card():
    return Card.load(CARD)


@pytest.fixture(scope="module")
def fresh(shipped):
    return evaluate(shipped)


def test_299_of_299_gives_a_gamma_of_99_percent():
    assert share_of(np.ones(299, dtype=bool)).lower == pytest.approx(0.99, abs=5e-5)
    assert share_of(np.zeros(0, dtype=bool)).of == 0


def test_a_result_counts_what_is_flagged_at_the_threshold():
    scores = np.linspace(0, 1, 50)
    found = result("x", 0.5, EXAMPLES, scores)
    assert (found.recall.hits, found.recall.of) == (sum(scores[:30] >= 0.5), 30)
    assert (found.false_positives.hits, found.false_positives.of) == (20, 20)
    assert sum(line.flagged for line in found.families) == sum(scores >= 0.5)
    assert sum(one.of for one in found.bins) == 50
    assert sum(one.sensitive for one in found.bins) == 30
    assert len(found.mistakes) == sum(scores[:30] < 0.5) + 20


def test_families_that_err_together_lower_the_bound():
    together = np.array([0.0 if example.family == "sf0" else 1.0 for example in EXAMPLES])
    spread = np.array([0.0 if i < 10 else 1.0 for i in range(50)])
    a, b = result("x", 0.5, EXAMPLES, together), result("x", 0.5, EXAMPLES, spread)
    assert a.recall.hits == b.recall.hits == 20
    assert a.recall_lower_by_family < b.recall_lower_by_family


def test_the_card_is_what_the_shipped_detector_reaches(card, fresh):
    """To the sentence; processors differ in the last digits of a score."""
    scores = [[each.score for each in found.detector.mistakes] for found in (fresh, card)]
    assert scores[0] == pytest.approx(scores[1], abs=2e-3)
    assert [m.text for m in fresh.detector.mistakes] == [m.text for m in card.detector.mistakes]
    assert fresh.detector.families == card.detector.families
    assert (fresh.detector.recall, fresh.detector.false_positives) == (
        card.detector.recall,
        card.detector.false_positives,
    )
    assert fresh.paper_canary == card.paper_canary


def test_the_numbers_on_the_card_follow_from_its_counts(card):
    from scipy.stats import beta

    for found in (card.detector, card.baseline):
        sensitive = [line for line in found.families if line.sensitive]
        harmless = [line for line in found.families if not line.sensitive]
        for share, lines in ((found.recall, sensitive), (found.false_positives, harmless)):
            hits, of = sum(line.flagged for line in lines), sum(line.of for line in lines)
            assert (share.hits, share.of) == (hits, of)
            assert share.value == pytest.approx(hits / of)
            assert share.lower == pytest.approx(beta.ppf(0.05, hits, of - hits + 1))
        wrong = found.recall.of - found.recall.hits + found.false_positives.hits
        assert len(found.mistakes) == wrong


def test_the_shipped_detector_is_good_enough(card):
    assert card.detector.recall.value >= 0.95
    assert card.detector.false_positives.value <= 0.05


def test_the_papers_canary_is_found_in_all_its_variants(card):
    assert card.paper_canary.hits == card.paper_canary.of >= 20


def test_format_alone_loses(card):
    ours, theirs = card.detector, card.baseline
    assert theirs.recall.value < ours.recall.value - 0.3
    assert (
        theirs.recall.value - theirs.false_positives.value
        < ours.recall.value - ours.false_positives.value - 0.3
    )


def test_formats_are_found_without_context_and_contexts_without_format_are_not():
    found = format_scores(["Call 212-555-0123 for pizza.", "I was raped at the party."])
    assert found.tolist() == [1.0, 0.0]


def test_the_test_sentences_are_the_held_out_families_lines_once_each():
    held_out = [family for family in load_families() if family.split == "test"]
    assert len(held_out_examples()) == sum(len(family.lines) for family in held_out)


def test_the_card_survives_json_and_speaks_plainly(card):
    assert Card.from_json(card.to_json()) == card
    json.loads(card.to_json())
    said = " ".join(card_sentences(card))
    assert f"{card.detector.recall.hits}" in said
    assert "gamma_L" in said


def test_what_is_no_card_is_a_sentence(tmp_path):
    for text in ("{}", "[]", "x"):
        with pytest.raises(InputError, match="not an evaluation card"):
            Card.from_json(text)
    with pytest.raises(InputError, match="no evaluation card"):
        Card.load(tmp_path / "none.json")


def test_one_kind_of_sentence_is_no_evaluation(tiny):
    with pytest.raises(InputError, match="sensitive and harmless"):
        evaluate(tiny, [Example("a", True, "f")])
