"""Two attackers: one sees tokens and pays for them, the other reads likelihoods and says what they are."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from core.attack.attackers import TokensOnly, WithLikelihoods, tokens_only
from core.attack.extraction import Question, ask_for_secrets, hit_rate
from core.attack.membership import membership
from core.attack.ranking.search import log_likelihood
from core.attack.targets import (
    Subject,
    TargetGone,
    chosen,
    open_subject,
    target_of,
    targets_of,
)
from core.errors import InputError
from core.lm.adapters import save_ensemble
from core.lm.ensemble import Ensemble
from core.predict import Decoding
from core.predict.terms import protocol_under
from core.store import open_store


def encode(subject, text):
    return subject.public.tokenizer(text, add_special_tokens=False).input_ids


def question_of(note):
    prompt, secret = note.rstrip(".").rsplit(" ", 1)
    return Question(prompt, secret)


def test_the_unprotected_model_recites_what_it_memorised_and_the_public_one_does_not(
    subject, members, settings
):
    questions = [question_of(note) for note in members[:8]]
    found = {}
    for kind in ("whole", "public"):
        target = target_of(subject.manifest, kind)
        with tokens_only(subject, target, limits=settings, decoding=Decoding(temperature=0.2)) as attacker:
            found[kind] = ask_for_secrets(attacker, questions)
    assert sum(found["whole"].got) >= 3  # five of them are all but certain
    assert sum(found["public"].got) == 0
    assert found["whole"].used == 0


def test_a_protected_target_is_paid_from_a_budget_of_the_attack_and_the_real_ledger_is_untouched(
    subject, members, settings
):
    with open_store(settings) as store:
        target = target_of(subject.manifest, "strict", epsilon=1.0, queries=200)
        with tokens_only(subject, target, limits=settings) as attacker:
            found = ask_for_secrets(attacker, [question_of(note) for note in members[:3]])
        assert store.ledger.corpora() == []
        assert len(store.ledger.entries()) == 1  # the entry that begins every ledger
    assert 3 <= found.used <= 3 * 5  # an answer may end early, but not before its first token was paid for
    assert not found.problem


def test_an_attack_ends_with_its_budget(subject, settings):
    target = target_of(subject.manifest, "strict", queries=10)
    with tokens_only(subject, target, limits=settings) as attacker:
        rate = hit_rate(attacker, "the night", ["0000"], generations=6)
        assert attacker.used == 10
    assert rate.within_budget
    assert rate.generations == 6


def test_the_likelihood_of_a_model_is_that_of_its_adapter(subject, members):
    tokens = encode(subject, members[0])
    whole = WithLikelihoods(subject, target_of(subject.manifest, "whole"))
    read = whole.read(tokens)
    wanted = Ensemble(subject.public, subject.stack.select(["whole"])).log_likelihoods(tokens).numpy()
    assert read.log_p == pytest.approx(wanted[1], abs=1e-3)
    assert read.public_log_p == pytest.approx(wanted[0], abs=1e-3)
    assert log_likelihood(whole.reader(), tokens[:4], tokens[4:]) == pytest.approx(
        wanted[1][3:].sum(), abs=1e-2
    )


@pytest.mark.parametrize("kind", ["strict", "pmixed", "ensemble"])
def test_the_likelihood_of_a_protocol_is_the_chance_of_the_transcript_under_it(subject, members, kind):
    """Teacher-forced: one paid step of the real protocol for every token, from a whole budget."""
    tokens = encode(subject, members[1])[:10]
    target = target_of(subject.manifest, kind)
    attacker = WithLikelihoods(subject, target)
    assert target.terms is not None
    protocol, ensemble = (
        protocol_under(target.terms),
        Ensemble(subject.public, subject.stack.select(subject.parts)),
    )
    decoder, wanted = ensemble.decoder(), []
    logits = decoder.start(tokens[:1])
    for token in tokens[1:]:
        decoded = Decoding().from_logits(logits)
        wanted.append(np.log(protocol.answer(decoded.query()).pmf[token]))
        logits = decoder.step(token)
    assert attacker.read(tokens).log_p == pytest.approx(wanted, abs=2e-3)
    assert log_likelihood(attacker.reader(), tokens[:1], tokens[1:]) == pytest.approx(sum(wanted), abs=1e-2)
    assert ("private mixture" in attacker.meaning) == (kind != "whole")


def test_every_text_starts_with_a_whole_budget(subject, members):
    attacker = WithLikelihoods(subject, target_of(subject.manifest, "strict", queries=20))
    tokens = encode(subject, members[2])
    assert attacker.read(tokens).log_p == pytest.approx(attacker.read(tokens).log_p, abs=1e-9)


def test_the_two_attackers_are_different_types():
    """What asks for likelihoods cannot be handed the attacker outside, and the other way round."""
    assert inspect.signature(ask_for_secrets).parameters["attacker"].annotation is TokensOnly
    assert inspect.signature(membership).parameters["attacker"].annotation is WithLikelihoods
    assert not hasattr(TokensOnly, "reader")
    assert not hasattr(WithLikelihoods, "answer")


def test_what_protects_nothing_is_offered_on_synthetic_corpora_only(subject):
    kinds = [target.kind for target in targets_of(subject.manifest)]
    assert kinds == ["whole", "ensemble", "strict", "pmixed", "public"]
    private = replace(subject.manifest, synthetic=False)
    assert [target.kind for target in targets_of(private)] == ["strict", "pmixed", "public"]
    with pytest.raises(InputError, match="synthetic corpora only"):
        target_of(private, "ensemble")
    assert target_of(private, "ensemble", experiment=True).terms.synthetic


def test_targets_are_chosen_by_kind_and_wrong_ones_named(subject):
    offered = targets_of(subject.manifest)
    assert [target.kind for target in chosen(offered, ["strict", "whole"])] == ["strict", "whole"]
    with pytest.raises(InputError, match="no target 'submix'"):
        chosen(offered, ["submix"])
    with pytest.raises(InputError, match="two halves"):
        target_of(subject.manifest, "submix")
    with pytest.raises(InputError, match="one of"):
        target_of(subject.manifest, "nonsense")


def test_a_folder_with_one_adapter_is_a_target_of_its_own(subject, tmp_path, settings):
    folder = tmp_path / "sanitised"
    training = {"method": "MDP text"}
    save_ensemble(folder, subject.stack.select(["whole"]), subject.public, synthetic=True, training=training)
    alone = open_subject(folder, subject.public, "sanitised")
    model, public = targets_of(alone.manifest, alone.name)
    assert (model.kind, model.title, public.kind) == ("model", "sanitised (MDP text)", "public")
    tokens = encode(subject, "the night nurse")
    read = WithLikelihoods(alone, model).read(tokens).log_p
    assert read == pytest.approx(
        WithLikelihoods(subject, target_of(subject.manifest, "whole")).read(tokens).log_p, abs=1e-4
    )
    with pytest.raises(InputError, match="no parts"):
        target_of(alone.manifest, "strict")


def test_a_target_that_is_deleted_or_trained_again_is_noticed(subject, tmp_path):
    folder = tmp_path / "gone"
    save_ensemble(folder, subject.stack.select(["whole"]), subject.public, synthetic=True)
    opened: Subject = open_subject(folder, subject.public)
    opened.check()
    save_ensemble(
        folder, subject.stack.select(["whole"]), subject.public, synthetic=True, created="2001-01-01T00:00:00"
    )
    with pytest.raises(TargetGone, match="deleted or trained again"):
        opened.check()
    with pytest.raises(TargetGone, match="nothing to attack"):
        open_subject(tmp_path / "never", subject.public)
