"""What can be asked for, and a sentence for each thing that cannot be."""

import shutil

import pytest

from core.attack.asked import Asked
from core.attack.conduct import conduct
from core.attack.preparing import prepare, questions_from
from core.errors import InputError
from core.lm.public import load_public
from tests.ensembles import make_ensemble


def public_of(settings):
    return lambda: load_public(settings.model, settings)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"attack": "nonsense"}, "An attack is one of"),
        ({"amount": 0}, "between 1 and 40"),
        ({"epsilon": -1.0}, "between 0.01"),
        ({"epsilon": float("nan")}, "between 0.01"),
        ({"seed": -1}, "whole number"),
        ({"copies": 0}, "between 1 and 200"),
        ({"text": "x" * 30_000}, "at most 20,000"),
    ],
)
def test_what_cannot_be_asked_for_is_a_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        Asked(**changes)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Asked(subject="nothing"), "nothing named 'nothing'"),
        (Asked(subject="notes"), "Only the demonstration's secrets are known"),
        (Asked(subject="notes", text="no arrow here"), "words => secret"),
        (Asked(subject="notes", text="a => 1", targets=("submix",)), "no target 'submix'"),
        (Asked("membership", subject="notes"), "one a line"),
        (Asked("canaries", template="My ID is 5."), "needs a hole"),
        (Asked("canaries", template="My ID is {digits:13}."), "too many to rank"),
        (Asked("canaries", targets=("nonsense",)), "A target is one of"),
        (Asked("canaries", copies=200, spread=True), "cannot be spread"),
        (Asked("codes", targets=("whole",)), "no target 'whole'"),
        (Asked("audit", targets=("nonsense",)), "plays on"),
        (Asked("reconstruction", targets=("whole",)), "one of smdp, mdp"),
    ],
)
def test_each_mistake_has_its_sentence_before_anything_runs(tiny_settings, tiny_llama, asked, sentence):
    make_ensemble(tiny_settings, "notes", synthetic=True)
    with pytest.raises(InputError, match=sentence):
        prepare(asked, tiny_settings, public_of(tiny_settings))


def test_secrets_are_written_one_a_line():
    found = questions_from("The door code is => 4121\n\n  My PIN is=>77 ")
    assert [(each.prompt, each.secret) for each in found] == [
        ("The door code is", "4121"),
        ("My PIN is", "77"),
    ]


def test_a_target_that_is_deleted_while_it_is_attacked_ends_with_a_sentence_and_keeps_the_rest(tiny_settings):
    folder = make_ensemble(tiny_settings, "notes", synthetic=True)
    asked = Asked(subject="notes", text="The night nurse => 12", targets=("whole", "public"))
    ready = prepare(asked, tiny_settings, public_of(tiny_settings))
    found = []

    def gone_after_the_first(outcome):
        found.append(outcome)
        shutil.rmtree(folder, ignore_errors=True)

    run = conduct(tiny_settings, ready, notice=gone_after_the_first)
    assert run.status == "stopped"
    assert "was deleted or trained again" in run.problem
    assert [each.target for each in run.outcome.findings] == ["no protection"]
