import math
from typing import Any

import pytest

from core.errors import InputError
from core.store.budget import Terms, checked_corpus, checked_terms
from tests.core.store.budgets import WARD


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
