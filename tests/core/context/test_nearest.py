"""The nearest families say what a sentence is about."""

from core.settings import EMBEDDED


def test_a_sentence_is_near_the_family_it_belongs_to(shipped):
    near = shipped.nearest_families("The PIN of my debit card is 9920.")
    assert len(near) == 3
    assert "card PIN" in [each.family for each in near]
    assert near[0].sensitive
    assert near[0].similarity >= near[1].similarity >= near[2].similarity
    assert near[0].example


def test_the_shipped_head_belongs_to_the_embedded_encoder(shipped):
    assert shipped.scorer.head.about.encoder == EMBEDDED
