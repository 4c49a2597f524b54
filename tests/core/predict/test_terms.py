"""Terms: what a manifest plans, what a protocol takes, what a quote promises, and who may start over."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from core.errors import BudgetRefused, InputError
from core.lm.manifest import Manifest
from core.predict import Decoded, StrictSubMix, SubMix
from core.predict.account import Account
from core.predict.terms import budget_parts, has_terms, planned_terms, protocol_under, quoted, start_over
from core.store import open_store

PARTITION = {"corpus": "notes", "k": 4, "halves": True}
BUDGET = {"epsilon": 2.0, "alpha": 2.0, "queries": 64, "protocol": "strict", "w_max": 0.7}
MANIFEST = Manifest("tiny", "digest", synthetic=True, partition=PARTITION, budget=BUDGET)
PROTECTED = ["strict", "submix", "pmixed", "subsample-aggregate", "gnmax"]


@pytest.fixture
def ledger(settings):
    with open_store(settings) as store:
        yield store.ledger


def test_halves_are_parts_of_their_own_for_all_but_submix():
    assert planned_terms(MANIFEST).parts == 8
    assert planned_terms(MANIFEST, protocol="submix").parts == 4
    assert budget_parts(4, False, "strict") == 4
    with pytest.raises(InputError, match="halves"):
        budget_parts(4, False, "submix")
    with pytest.raises(InputError, match="one of strict"):
        budget_parts(4, True, "magic")


def test_a_protocol_has_all_the_terms_that_it_was_opened_with():
    strict = protocol_under(planned_terms(MANIFEST, allowance="banked"))
    assert isinstance(strict, StrictSubMix)
    assert (strict.parts, strict.w_max, strict.allowance) == (8, 0.7, "banked")
    assert isinstance(protocol_under(planned_terms(MANIFEST, protocol="submix")), SubMix)
    with pytest.raises(InputError, match="stream of its own"):
        protocol_under(planned_terms(MANIFEST, protocol="finetuned"))
    with pytest.raises(InputError, match="synthetic only"):
        protocol_under(planned_terms(replace(MANIFEST, synthetic=False), protocol="ensemble"))


@pytest.mark.parametrize(
    "change",
    [{"epsilon": 1.0}, {"alpha": 4.0}, {"queries": 65}, {"w_max": 0.5}, {"allowance": "even"},
     {"protocol": "pmixed"}],
)  # fmt: skip
def test_any_other_term_is_another_budget(change):
    terms = planned_terms(MANIFEST)
    assert has_terms(protocol_under(terms), terms)
    assert not has_terms(protocol_under(terms), replace(terms, **change))


@pytest.mark.parametrize("protocol", PROTECTED)
def test_no_answer_costs_more_than_its_quote(ledger, protocol):
    terms = planned_terms(MANIFEST, protocol=protocol, queries=12)
    ledger.open_budget("notes", **asdict(terms))
    account = Account("notes", protocol_under(terms), ledger)
    rng = np.random.default_rng(3)
    for tokens in (1, 5, 3):
        before = ledger.budget("notes")
        price = quoted(before, tokens)
        for _ in range(tokens):
            account.draw(Decoded(rng.dirichlet(np.full(9, 0.2), 9) * 0.98 + 0.02 / 9))
        after = ledger.budget("notes").remaining
        paid = max(had - left for had, left in zip(before.remaining, after, strict=True))
        assert paid <= price + 1e-9


def test_a_used_up_or_stopped_budget_is_quoted_at_nothing(ledger):
    ledger.open_budget("notes", **asdict(planned_terms(MANIFEST, queries=1)))
    assert quoted(ledger.budget("notes"), 10) == pytest.approx(2.0)
    ledger.debit("notes", [0.1] * 8)
    assert quoted(ledger.budget("notes"), 10) == 0.0
    ledger.restart("notes", queries=10)
    ledger.stop("notes", [0.1] * 8)
    assert quoted(ledger.budget("notes"), 10) == 0.0


def test_starting_over_is_for_synthetic_corpora(ledger):
    assert start_over(ledger, "notes", MANIFEST, epsilon=1.0).epsilon == 1.0
    ledger.debit("notes", [0.5] * 8)
    fresh = start_over(ledger, "notes", MANIFEST, protocol="submix")
    assert (fresh.parts, fresh.used, fresh.remaining) == (4, 0, (2.0,) * 4)
    with pytest.raises(BudgetRefused, match=r"private.*stays released"):
        start_over(ledger, "ward", replace(MANIFEST, synthetic=False))
    assert ledger.budget("ward") is None
    ledger.open_budget("ward", **asdict(planned_terms(replace(MANIFEST, synthetic=False))))
    with pytest.raises(BudgetRefused, match="private"):
        start_over(ledger, "ward", MANIFEST)  # the ledger's word counts, whatever a manifest says


@pytest.mark.parametrize(
    "change", [{"w_max": 1.0}, {"alpha": 1.0}, {"queries": 0}, {"protocol": "finetuned"}]
)
def test_terms_that_no_protocol_takes_never_reach_the_ledger(ledger, change):
    with pytest.raises(InputError):
        start_over(ledger, "notes", MANIFEST, **change)
    assert ledger.budget("notes") is None


def test_an_answer_in_the_making_does_not_draw_under_terms_that_were_changed_meanwhile(ledger):
    terms = planned_terms(MANIFEST)
    start_over(ledger, "notes", MANIFEST)
    account = Account("notes", protocol_under(terms), ledger)
    rows = Decoded(np.random.default_rng(1).dirichlet(np.ones(9), 9))
    assert account.draw(rows).step is not None
    for change in ({"alpha": 8.0}, {"protocol": "submix"}, {"w_max": 0.2}):
        start_over(ledger, "notes", MANIFEST, **change)
        drawn = account.draw(rows)
        assert drawn.step is None
        assert "started over" in drawn.problem
        assert ledger.budget("notes").used == 0
