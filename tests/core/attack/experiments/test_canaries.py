"""The canary experiment on a tiny model: planted by coins, trained in memory, attacked and audited."""

import random
import re
from dataclasses import replace

import pytest

from core.attack.conduct import conduct
from core.attack.experiments.canaries import prepare_canaries
from core.attack.experiments.codes import CodePlan, prepare_codes, random_codes
from core.attack.experiments.planting import CanaryPlan, plant_by_coins
from core.attack.experiments.secrets import SecretsPlan, demo_questions, prepare_secrets
from core.attack.experiments.trained import Split, split_key
from core.attack.extraction import Question
from core.attack.ranking.exposure import Effort
from core.attack.targets import target_of
from core.attack.watch import AttackCancelled, Watch
from core.corpus.partition import partition_corpus
from core.errors import InputError
from tests.core.attack.notes import MEMORISING, corpus_of, notes

PLAN = CanaryPlan(
    template="# locker {digits:3}.",
    canaries=8,
    copies=4,
    documents=12,
    split=Split(parts=2, queries=200),
    training=replace(MEMORISING, passes=25),
    effort=Effort(most_read=60, most_enumerated=20, references=20),
    temperature=0.3,
)


def test_about_half_of_the_canaries_are_planted_and_all_copies_lie_with_one_user():
    corpus = corpus_of(notes(30, seed=2))
    planted = plant_by_coins(corpus, PLAN, seed=4)
    texts = [document for document in planted.corpus.documents if document.source == "canary"]
    assert 0 < sum(planted.included) < 8
    assert len(texts) == 4 * sum(planted.included)
    for canary, included in zip(planted.canaries, planted.included, strict=True):
        owners = [document.user for document in texts if document.text == canary.text]
        assert len(owners) == 4 * included
        assert len(set(owners)) <= 1
    spread = plant_by_coins(corpus, replace(PLAN, among="spread"), seed=4)
    holders = {
        d.user for d in spread.corpus.documents if d.text == spread.canaries[spread.included.index(True)].text
    }
    assert len(holders) == 4
    assert plant_by_coins(corpus, PLAN, seed=4) == planted
    assert len({canary.prefix for canary in planted.canaries}) == 8


@pytest.mark.parametrize("seed", range(8))
def test_as_many_users_are_taken_as_leave_no_part_empty(seed):
    plan = replace(PLAN, documents=2, split=Split(parts=4, halves=True))
    planted = plant_by_coins(corpus_of(notes(60, seed=2)), plan, seed)
    partition_corpus(planted.corpus, 4, key=split_key(seed), halves=True)
    assert len(planted.corpus.users) < 60


def test_the_corpus_itself_is_not_changed():
    corpus = corpus_of(notes(30, seed=2))
    before = corpus.documents
    plant_by_coins(corpus, PLAN, seed=1)
    assert corpus.documents == before


def test_planted_canaries_are_exposed_and_those_left_out_are_not(tiny, settings):
    corpus = corpus_of(notes(20, seed=2), synthetic=False)  # a private corpus: the curator's own experiment
    ready = prepare_canaries(corpus, tiny, limits=settings, seed=3, plan=PLAN)
    run = conduct(settings, ready)
    assert run.status == "finished", run.problem
    found = {(each.target, each.measure): each.value for each in run.outcome.findings}
    inside = found["no protection", "mean exposure of planted canaries"]
    outside = found["no protection", "mean exposure of canaries left out"]
    assert inside > outside + 2.0
    assert ("Strict at epsilon 2", "epsilon, at least") in found
    assert found["no protection", "epsilon, at least"] >= 0.0
    assert run.outcome.verdict[0].startswith("With no protection the attacker reads")
    assert not run.synthetic


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"template": "My ID is 5."}, "needs a hole"),
        ({"template": "My ID is {digits:13}."}, "too many to rank"),
        ({"template": "{digits:3} is my ID."}, "words before its first hole"),
        ({"canaries": 2}, "canaries can be planted"),
    ],
)
def test_a_plan_that_cannot_be_ranked_is_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(PLAN, **changes)


def test_a_corpus_smaller_than_its_parts_is_refused_before_anything_is_trained(tiny, settings):
    plan = replace(PLAN, split=Split(parts=9))
    with pytest.raises(InputError, match="nobody in it"):
        prepare_canaries(corpus_of(notes(6, seed=2)), tiny, limits=settings, seed=1, plan=plan)


def test_more_copies_than_users_cannot_be_spread(tiny, settings):
    plan = replace(PLAN, copies=40, among="spread")
    with pytest.raises(InputError, match="cannot be spread"):
        prepare_canaries(corpus_of(notes(20, seed=2)), tiny, limits=settings, seed=1, plan=plan)


def test_training_for_an_experiment_can_be_cancelled(tiny, settings):
    ready = prepare_canaries(corpus_of(notes(20, seed=2)), tiny, limits=settings, seed=1, plan=PLAN)
    run = conduct(settings, ready, watch=Watch(cancelled=lambda: True))
    assert run.status == "cancelled"
    assert not run.outcome.findings
    with pytest.raises(AttackCancelled):
        ready.steps[0].find(Watch(cancelled=lambda: True))


def test_codes_are_different_and_of_one_length():
    codes = random_codes(3, 6, seed=1)
    assert len(set(codes)) == 6
    assert {len(code) for code in codes} == {3}
    with pytest.raises(InputError, match="not 11 different codes"):
        random_codes(1, 11, seed=1)


def test_figure_six_on_a_tiny_model(tiny, settings):
    plan = CodePlan(
        lengths=(2,), epsilons=(0.5, 500.0), parts=2, generations=60,
        training=replace(MEMORISING, passes=60),
    )  # fmt: skip
    run = conduct(settings, prepare_codes(tiny, limits=settings, seed=1, plan=plan))
    rates = {each.target: each.value for each in run.outcome.findings}
    assert rates["no protection"] >= 0.7
    assert rates["plain ensemble"] > rates["SubMix at epsilon 0.5"]
    assert rates["Strict at epsilon 0.5"] < 0.1
    assert rates["SubMix at epsilon 0.5"] < 0.1
    assert [picture.title.split(", ")[1] for picture in run.outcome.pictures] == ["SubMix", "Strict"]
    line, unprotected = run.outcome.pictures[0].lines
    assert [x for x, _ in line.points] == [0.5, 500.0]
    assert len(line.band) == 2
    assert unprotected.points == ((0.5, rates["no protection"]), (500.0, rates["no protection"]))
    (verdict,) = run.outcome.verdict
    assert re.fullmatch(
        r"With no protection \d+ of 60 answers are a secret code; under SubMix at epsilon 0.5, "
        r"(none|\d) of 60; under Strict at epsilon 0.5, (none|\d) of 60.",
        verdict,
    )
    assert "4 % for codes of 2 digits" in run.outcome.notes[0]


def test_the_default_run_asks_and_ranks_every_target(subject, members, settings):
    rng = random.Random(0)
    questions = []
    for note in rng.sample(members, 4):
        prompt, secret = note.rstrip(".").rsplit(" ", 1)
        questions.append(Question(prompt, secret))
    targets = [target_of(subject.manifest, kind) for kind in ("whole", "strict", "public")]
    plan = SecretsPlan(
        temperature=0.2, ranked=2, effort=Effort(most_read=60, most_enumerated=20, references=20)
    )
    ready = prepare_secrets(subject, targets, questions, limits=settings, seed=2, plan=plan)
    assert ready.seconds > 0
    shares = []
    run = conduct(settings, ready, watch=Watch(lambda reached: shares.append(reached.share)))
    assert shares == sorted(shares)
    came = {each.target: each for each in run.outcome.findings if each.attack == "extraction"}
    assert (came["no protection"].count or 0) > (came["public model"].count or 0)
    assert "queries paid for" in came["Strict at epsilon 2"].note
    assert run.outcome.verdict[0].startswith("With no protection the attacker reads")
    assert "1.44 bits" in run.outcome.verdict[-1]
    assert any("private mixture" in note for note in run.outcome.notes)
    assert len(run.outcome.pictures) == 2


def test_the_demonstration_has_secrets_to_ask_for():
    questions = demo_questions()
    assert len(questions) >= 20
    assert sum(question.secret.isdigit() for question in questions) >= 4
