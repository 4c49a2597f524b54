import json
import math
from itertools import pairwise
from typing import Any

import pytest

from core.errors import InputError
from core.settings import Settings
from core.store import Store, open_store
from core.store.budget import Terms, checked_corpus, checked_terms
from tests.core.store.budgets import WARD, open_ward, ward


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        ({"parts": 1}, "at least 2 parts"),
        ({"parts": 0}, "parts"),
        ({"parts": 2.5}, "parts"),
        ({"parts": True}, "parts"),
        ({"epsilon": 0}, "Epsilon"),
        ({"epsilon": -1.0}, "Epsilon"),
        ({"epsilon": math.nan}, "Epsilon"),
        ({"epsilon": math.inf}, "Epsilon"),
        ({"epsilon": 1e-13}, "unit"),
        ({"epsilon": "2"}, "Epsilon"),
        ({"alpha": 1.0}, "Alpha"),
        ({"alpha": math.inf}, "Alpha"),
        ({"alpha": math.nan}, "Alpha"),
        ({"queries": 0}, "queries"),
        ({"queries": 1.5}, "queries"),
        ({"protocol": ""}, "protocol"),
        ({"synthetic": "no"}, "synthetic"),
        ({"w_max": 0.0}, "weight"),
        ({"w_max": 1.1}, "weight"),
        ({"w_max": math.nan}, "weight"),
        ({"w_max": "0.5"}, "weight"),
        ({"allowance": ""}, "allowance"),
        ({"allowance": 3}, "allowance"),
    ],
)
def test_impossible_terms_are_refused_with_a_reason(change: dict[str, Any], sign: str):
    with pytest.raises(InputError, match=sign):
        checked_terms(Terms(**{**WARD, **change}))


@pytest.mark.parametrize(
    ("corpus", "sign"),
    [
        ("", "name"),
        (" ward", "name"),
        (None, "name"),
        ("a\x00b", "printable"),
        ("\ud800", "printable"),
        ("x" * 201, "200"),
    ],
)
def test_impossible_names_are_refused_with_a_reason(corpus: Any, sign: str):
    with pytest.raises(InputError, match=sign):
        checked_corpus(corpus)


def test_names_in_any_script_are_welcome():
    for corpus in ("Ward notes", "診療記録", "Überweisungen 2026", "ملاحظات", "🏥"):
        assert checked_corpus(corpus) == corpus


def test_the_weight_and_the_allowance_are_kept_in_the_opening_entry(store: Store, settings: Settings):
    open_ward(store, w_max=0.7, allowance="banked", synthetic=True)
    store.ledger.debit("ward", [0.1, 0.1, 0.1])
    with open_store(settings) as again:
        assert (ward(again).w_max, ward(again).allowance) == (0.7, "banked")
        fresh = again.ledger.restart("ward", w_max=0.3, allowance="even")
        assert (fresh.w_max, fresh.allowance, fresh.epsilon) == (0.3, "even", 2.0)
        assert again.ledger.verify().ok


def test_an_entry_from_before_there_was_a_weight_has_the_defaults_and_a_valid_digest(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    def as_it_was(terms: Terms) -> str:
        kept = {name: value for name, value in vars(terms).items() if name not in ("w_max", "allowance")}
        return json.dumps(kept, sort_keys=True)

    with monkeypatch.context() as before, open_store(settings) as old:
        before.setattr(Terms, "encoded", as_it_was)
        open_ward(old, w_max=0.9, allowance="banked")
        old.ledger.debit("ward", [0.5, 0.25, 0.125])
    with open_store(settings) as now:
        assert (ward(now).w_max, ward(now).allowance) == (0.5, "rolling")
        now.ledger.debit("ward", [0.5, 0.25, 0.125])
        assert ward(now).remaining == (1.0, 1.5, 1.75)
        assert now.ledger.verify().ok


def test_the_burn_down_runs_from_the_opening_to_now_and_never_up(store: Store):
    assert store.ledger.burn_down("ward") == ()
    open_ward(store)
    open_ward(store, "other")
    assert store.ledger.burn_down("ward") == ((0, 2.0),)
    for step in range(40):
        store.ledger.debit("ward", [0.01, 0.02, 0.03])
        store.ledger.debit("other", [0.5 if step == 0 else 0.0] * 3)
    drawn = store.ledger.burn_down("ward", points=8)
    assert len(drawn) <= 9
    assert drawn[0] == (0, 2.0)
    assert drawn[-1] == (40, pytest.approx(0.8))
    assert all(used > before and left < had for (before, had), (used, left) in pairwise(drawn))
    assert [left for used, left in drawn] == pytest.approx([2.0 - 0.03 * used for used, _ in drawn])


def test_a_budget_that_was_started_over_burns_down_from_its_own_opening(store: Store):
    open_ward(store, synthetic=True)
    store.ledger.debit("ward", [0.5, 0.5, 0.5])
    store.ledger.restart("ward", epsilon=3.0)
    store.ledger.debit("ward", [0.5, 0.5, 0.5])
    assert store.ledger.burn_down("ward") == ((0, 3.0), (1, 2.5))
