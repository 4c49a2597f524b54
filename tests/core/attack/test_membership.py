"""Membership inference: chance on models that saw neither side, almost certain on one that memorised one."""

import numpy as np
import pytest

from core.attack.attackers import TextReading, WithLikelihoods
from core.attack.conduct import conduct
from core.attack.experiments import membership as experiment
from core.attack.experiments.membership import one_text_per_user, prepare_membership
from core.attack.membership import SCORES, membership, scores
from core.attack.same_distribution import differ
from core.attack.targets import target_of
from core.errors import InputError
from tests.core.attack.notes import TOKENS, corpus_of, notes


def attacked(subject, kind, members, others):
    attacker = WithLikelihoods(subject, target_of(subject.manifest, kind))
    return membership(attacker, members, others, np.random.default_rng(0))


def test_a_model_that_memorised_one_side_gives_it_away(subject, members):
    found = attacked(subject, "whole", members, notes(16, seed=5))
    assert found.curves["loss"].area.value > 0.9
    assert found.curves["reference"].area.value > 0.9
    assert max(curve.area.value for curve in found.curves.values()) == found.curves[found.best].area.value


@pytest.mark.parametrize("kind", ["public", "whole", "strict"])
def test_a_model_that_saw_neither_side_is_at_chance_within_its_interval(subject, kind):
    found = attacked(subject, kind, notes(40, seed=6), notes(40, seed=7))
    for name, curve in found.curves.items():
        assert curve.area.low <= 0.5 <= curve.area.high, name
    # against itself the public model has nothing to say
    assert ("reference" in found.curves) == (kind != "public")


def test_a_protocol_gives_members_away_less_than_the_model_behind_it(subject, members):
    others = notes(16, seed=5)
    strict = attacked(subject, "strict", members, others)
    whole = attacked(subject, "whole", members, others)
    assert strict.curves["loss"].area.value < whole.curves["loss"].area.value


def test_the_five_scores_are_what_their_papers_say():
    log_p = np.log([0.5, 0.1, 0.9, 0.25, 0.05])
    reading = TextReading(log_p, np.log(np.full(5, 0.2)), np.full(5, -2.0), np.full(5, 0.5))
    found = scores(reading, "some text")
    assert set(found) == set(SCORES)
    assert found["loss"] == pytest.approx(log_p.mean())
    assert found["reference"] == pytest.approx(log_p.mean() - np.log(0.2))
    assert found["min-k"] == pytest.approx(np.log(0.05))  # a fifth of five tokens
    assert found["min-k++"] == pytest.approx((np.log(0.05) + 2.0) / 0.5)
    assert found["zlib"] == pytest.approx(log_p.sum() / 17)


def test_members_of_another_kind_are_noticed_without_any_model():
    rng = np.random.default_rng(0)
    same = differ(notes(60, seed=1), notes(60, seed=2), rng)
    assert not same.found
    assert "look alike" in same.sentence
    other = [text.replace("nurse", "pilot").replace("soup", "fuel") for text in notes(60, seed=2)]
    different = differ(notes(60, seed=1), other, rng)
    assert different.found
    assert "not from the same distribution" in different.sentence


def test_sides_of_one_distribution_are_seldom_called_different():
    rng = np.random.default_rng(1)
    called = sum(differ(notes(40, seed=10 + n), notes(40, seed=90 + n), rng).found for n in range(30))
    assert called <= 2


def test_one_text_for_each_user():
    corpus = corpus_of(notes(9, seed=1))
    assert sorted(one_text_per_user(corpus, 9, seed=3)) == sorted(notes(9, seed=1))
    assert len(one_text_per_user(corpus, 4, seed=3)) == 4


def test_the_run_draws_curves_and_says_what_they_mean(subject, members, settings):
    others = notes(16, seed=5)
    targets = [target_of(subject.manifest, kind) for kind in ("whole", "public")]
    run = conduct(settings, prepare_membership(subject, targets, members, others, seed=0))
    assert run.status == "finished"
    assert run.outcome.verdict[0].startswith("With no protection, the attacker picks the member from a pair")
    assert run.outcome.verdict[0].endswith("50 % is chance.")
    curves, areas = run.outcome.pictures
    assert [line.name for line in curves.lines] == ["no protection", "public model", "chance"]
    assert len(areas.bars) == 9  # five scores, and four of them on the public model
    assert any("0.1 % cannot be told from zero" in note for note in run.outcome.notes)


def test_too_few_texts_and_texts_on_both_sides_are_refused(subject, members):
    with pytest.raises(InputError, match="at least 10"):
        attacked(subject, "public", members[:3], members[3:])
    target = target_of(subject.manifest, "public")
    with pytest.raises(InputError, match="on both sides"):
        prepare_membership(subject, [target], members, members[:1], seed=0)


def test_the_time_is_that_of_reading_all_tokens_of_both_sides(subject, members, monkeypatch):
    monkeypatch.setattr(
        experiment, "timed", lambda work: work() and 24.0
    )  # a second for a token of the trial
    target = target_of(subject.manifest, "strict")
    ready = prepare_membership(subject, [target], members, notes(16, seed=5), seed=0)
    assert ready.seconds == 32 * TOKENS
