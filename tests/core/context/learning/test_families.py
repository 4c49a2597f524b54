"""The written families: many, varied, and split as wholes."""

import random
import re

import pytest

from core.context.learning.families import Family, load_families
from core.context.learning.paraphrase import Thesaurus
from core.context.learning.widen import bury, targets
from core.errors import InputError

FAMILIES = load_families()


def test_there_are_at_least_forty_families_of_each_kind_with_a_dozen_sentences():
    own = [family for family in FAMILIES if not family.name.startswith("paper")]
    assert sum(family.sensitive for family in own) >= 80
    assert sum(not family.sensitive for family in own) >= 80
    assert all(len(family.lines) >= 12 for family in own)
    assert all(len(set(family.lines)) == len(family.lines) for family in FAMILIES)


def test_a_family_is_in_one_split_and_no_sentence_is_in_both():
    train = {line for family in FAMILIES if family.split == "train" for line in family.lines}
    test = {line for family in FAMILIES if family.split == "test" for line in family.lines}
    assert not train & test
    shares = [family.split == "test" for family in FAMILIES]
    assert 0.15 < sum(shares) / len(shares) < 0.3


def test_the_papers_own_examples_are_held_out_both_ways_round():
    paper = [family for family in FAMILIES if family.name.startswith("paper")]
    assert all(family.split == "test" for family in paper)
    lines = {(line, family.sensitive) for family in paper for line in family.lines}
    assert ("My bank security code is 450.", True) in lines
    assert ("I received my social security card; My number is", True) in lines
    assert ("I am waiting at the motor vehicle department; My number is", False) in lines


def test_every_slot_is_filled_and_each_seed_fills_its_own_way():
    for family in FAMILIES:
        for example in family.examples(fillings=2):
            assert not re.search(r"\{[a-z]+\d*\}", example.text + example.before), example
    pin = next(family for family in FAMILIES if family.name == "card PIN")
    assert list(pin.examples(seed=1)) == list(pin.examples(seed=1))
    assert list(pin.examples(seed=1)) != list(pin.examples(seed=2))


def test_a_line_gives_the_sentence_before_it_behind_the_bar():
    family = Family("x", True, ("My card came. || It's {d4}.",))
    (example,) = family.examples()
    assert example.before == "My card came."
    assert re.fullmatch(r"It's \d{4}\.", example.text)


def test_a_sentence_that_needs_its_neighbour_is_undecided_without_it():
    made = targets([Family("x", True, ("My card came. || It's 4417.",))])
    assert {(target.text, target.before, target.probability) for target in made} >= {
        ("It's 4417.", "My card came.", 1.0),
        ("It's 4417.", "", 0.5),
    }


def test_widening_keeps_labels():
    families = [Family("s", True, ("My PIN is {d4}.",)), Family("h", False, ("It rains.",))]
    made = targets(families, fillings=20)
    assert len(made) >= 21
    assert all(target.probability == any(map(str.isdigit, target.text)) for target in made)


def test_a_paraphraser_adds_other_words_under_the_same_label():
    family = Family("s", True, tuple(f"My boss told the police that the code is {n}." for n in range(40)))
    plain = {target.text.lower() for target in targets([family])}
    added = [each for each in targets([family], paraphraser=Thesaurus()) if each.text.lower() not in plain]
    assert any("boss" not in each.text or "police" not in each.text for each in added)
    assert {each.probability for each in added} == {1.0}


def test_a_buried_sentence_is_still_there():
    text = bury("My PIN is 44.", ["It rains.", "Tea."], random.Random(1))
    assert "My PIN is 44" in text
    assert "rains" in text or "Tea" in text


def test_two_families_of_one_name_are_refused(tmp_path):
    for kind in ("sensitive", "harmless"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "a.txt").write_text("## same\nline\n")
    with pytest.raises(InputError, match="same name"):
        load_families(tmp_path)
