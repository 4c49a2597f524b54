from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import pytest

from core.store.chain import Link, Malformed, follow, from_row, genesis

LINK = Link(
    sequence=2,
    previous="ab" * 32,
    kind="debit",
    corpus="Stationsnotizen é",
    budget="cd" * 32,
    losses=(1, 2),
    remaining=(10, 20),
    used=1,
    time=1_700_000_000_000_000,
    session="s",
    details="",
)


def test_the_encoding_is_pinned_so_that_old_ledgers_still_verify():
    assert LINK.computed() == "76a8f9362f4ca5e667ee7e8c0cd400a4cede4a7273183c4b385d2fa5121df4c7"


@pytest.mark.parametrize("name", [field.name for field in fields(Link) if field.name != "digest"])
def test_every_field_is_under_the_digest(name: str):
    value = getattr(LINK, name)
    other: Any = (
        value + 1 if isinstance(value, int) else (*value, 3) if isinstance(value, tuple) else value + "x"
    )
    assert replace(LINK, **{name: other}).computed() != LINK.computed()


def test_amounts_cannot_move_between_neighbouring_fields():
    assert replace(LINK, losses=(1,), remaining=(2, 10, 20)).computed() != LINK.computed()
    assert (
        replace(LINK, corpus="a", budget="bc").computed() != replace(LINK, corpus="ab", budget="c").computed()
    )


def test_a_clock_set_back_does_not_make_time_run_backwards():
    first = genesis("chain", now=1000)
    assert follow(first, LINK, now=10).time == 1000
    assert follow(first, LINK, now=2000).time == 2000


def test_a_link_survives_its_row():
    sealed = LINK.sealed()
    assert from_row(SimpleNamespace(**sealed.row())) == sealed


@pytest.mark.parametrize(
    "change",
    [
        {"losses": "[1.5]"},
        {"losses": "[true]"},
        {"losses": "x"},
        {"remaining": None},
        {"used": "1"},
        {"kind": 1},
    ],
)
def test_a_row_of_other_types_is_malformed(change: dict[str, Any]):
    with pytest.raises(Malformed):
        from_row(SimpleNamespace(**{**LINK.sealed().row(), **change}))
