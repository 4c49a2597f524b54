"""The verdict: every outcome in true words."""

from dataclasses import replace

import pytest

from app.panels.predict.answers import UNPROTECTED, answers_html, protected_column
from core.corpus.leaks import Leak, find_leaks
from core.corpus.ward_secrets import DemoSecret
from core.predict.verdict import Outcome, verdict_text
from tests.app.payloads import ALL

CODE = DemoSecret("door code", "patient-1", "The door code for Ilona Vass's flat is", "4821", (1,))
ILONA = Leak("Ilona Vass", "door code", "4821", 1, 5)
OTHER = Leak("Ben Ode", "spare key", "in the empty beehive", 9, 29)
PROTECTED = protected_column("strict")
DRAWN = Outcome(40, 0, 2.0, 140, 1024, 0.0613, compared=True, asked=CODE)


def test_only_the_unprotected_model_gave_it_away():
    assert verdict_text(replace(DRAWN, unprotected=(ILONA,))) == (
        "The unprotected model gave away Ilona Vass's door code, 4821. The protected one did not. "
        "40 tokens cost at most 0.0613 of any part's 2."
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "This time no model gave away Ilona Vass's door code."),
        ({"asked": None}, "No planted secret was given away."),
        ({"unprotected": (ILONA,), "protected": (ILONA,)}, "Both models gave away Ilona Vass's door code,"),
        ({"protected": (ILONA,)}, "The protected model gave away Ilona Vass's door code, 4821. A budget"),
        ({"unprotected": (OTHER,), "protected": (ILONA,)}, "Besides Ben Ode's spare key, in the empty"),
        ({"unprotected": (ILONA, OTHER)}, "door code, 4821, and 1 more. The protected one did not."),
        ({"unprotected": (ILONA,), "public": (ILONA,)}, "said it too: it can be guessed."),
        ({"tokens": 1}, "1 token cost at most 0.0613"),
        ({"from_public": 3}, "The last 3 came from the public model"),
        ({"from_public": 40, "used": 1024}, "cost nothing. Why: the budget is used up."),
        ({"from_public": 40}, "the budget has stopped, or its ledger cannot be written now."),
        ({"problem": "The disk is full.", "from_public": 40}, "cost nothing. Why: The disk is full."),
        ({"problem": "The disk is full.", "from_public": 9}, "The last 9 came from the public model. Why:"),
        ({"accounted": False}, "protects nothing and keeps no account."),
    ],
)  # fmt: skip
def test_every_other_outcome_has_its_own_sentence(change, said):
    assert said in verdict_text(replace(DRAWN, **change))


def test_a_visitor_of_a_private_corpus_is_told_the_public_count_and_no_cost():
    said = verdict_text(replace(DRAWN, cost=None, compared=False, asked=None))
    assert said == "40 tokens were drawn; 140 of 1,024 queries are used. What it cost is for the curator."


def test_a_secret_is_underlined_and_public_tokens_are_marked():
    text = " 4821. Then she left."
    told = replace(UNPROTECTED, text=text, leaks=find_leaks(CODE.prompt, text, [CODE]))
    html = answers_html(CODE.prompt, [replace(PROTECTED, text="a bird sang", public_from=2), told])
    assert '<mark class="secret" title="A planted secret">4821</mark>. Then she left.' in html
    assert 'a <span class="from-public" title="From the public model">bird sang</span>' in html
    assert "columns-2" in html


@pytest.mark.parametrize("payload", ALL)
def test_neither_prompt_nor_answer_can_break_the_columns(payload):
    plain = answers_html("p", [replace(PROTECTED, text="t", public_from=0), UNPROTECTED])
    made = answers_html(payload, [replace(PROTECTED, text=payload, public_from=0), UNPROTECTED])
    assert (made.count("<"), made.count(">"), made.count('"')) == (
        plain.count("<"), plain.count(">"), plain.count('"'),
    )  # fmt: skip
    assert not any(sign in made for sign in ("${", "{{", "`", "\\"))
