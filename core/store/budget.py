"""Budgets: their terms, their state, and the only three steps that change it. Pure, no database.

The ledger appends with these steps and `verify` replays with them.
"""

import json
import math
from dataclasses import asdict, dataclass
from datetime import datetime

from core.errors import BudgetRefused, InputError, StaleBudget
from core.store.chain import DEBIT, OPEN, STOP, Link, Malformed
from core.store.tables import CORPUS_LENGTH, from_micros
from core.store.units import round_down, to_nats

MAX_PARTS = 4096
MAX_EPSILON = 1_000_000.0  # keeps every amount far inside 64 bits
MAX_QUERIES = 10**12


@dataclass(frozen=True)
class Terms:
    """What a budget was opened with; all of it is public."""

    parts: int
    epsilon: float
    alpha: float
    queries: int
    protocol: str
    synthetic: bool
    # Of Strict; entries that were written before there were these two have the defaults.
    w_max: float = 0.5
    allowance: str = "rolling"

    def encoded(self) -> str:
        """Canonical JSON, kept in the opening entry."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True)
class Budget:
    """A corpus' budget now. `remaining` is a function of private data: for the curator only."""

    corpus: str
    parts: int
    epsilon: float
    alpha: float
    queries: int
    protocol: str
    synthetic: bool
    opened: datetime
    remaining: tuple[float, ...]
    used: int
    stopped: bool
    w_max: float = 0.5
    allowance: str = "rolling"


@dataclass(frozen=True)
class Receipt:
    """Proof of a committed charge. `remaining` is for the curator, as in `Budget`."""

    sequence: int
    corpus: str
    remaining: tuple[float, ...]
    used: int
    digest: str


def checked_corpus(corpus: str) -> str:
    """The corpus' name, or `InputError`: names are shown in tables and compared byte by byte."""
    if not isinstance(corpus, str) or not corpus or corpus != corpus.strip():
        raise InputError("A corpus needs a name that does not begin or end with a space.")
    if len(corpus) > CORPUS_LENGTH or not corpus.isprintable():
        raise InputError(f"A corpus' name has at most {CORPUS_LENGTH} characters, all of them printable.")
    return corpus


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def checked_terms(terms: Terms) -> Terms:
    """The terms, or `InputError` with the reason."""
    if terms.parts == 1:
        raise InputError(
            "A budget needs at least 2 parts: with one part there is no other part to hide behind, "
            "and the answers would be that part's own."
        )
    if not _is_count(terms.parts, 2, MAX_PARTS):
        raise InputError(f"The number of parts must be a whole number from 2 to {MAX_PARTS:,}.")
    if not _is_number(terms.epsilon) or not 0 < terms.epsilon <= MAX_EPSILON:
        raise InputError(f"Epsilon must be a number above 0 and at most {MAX_EPSILON:,.0f}.")
    if round_down(float(terms.epsilon)) < 1:
        raise InputError("Epsilon is smaller than the ledger's unit of 1e-12.")
    if not _is_number(terms.alpha) or not terms.alpha > 1:
        raise InputError("Alpha must be a finite number above 1.")
    if not _is_count(terms.queries, 1, MAX_QUERIES):
        raise InputError(f"The number of queries must be a whole number from 1 to {MAX_QUERIES:,}.")
    if not isinstance(terms.protocol, str) or not terms.protocol or not terms.protocol.isprintable():
        raise InputError("A budget needs the name of its protocol.")
    if not isinstance(terms.synthetic, bool):
        raise InputError("Whether the corpus is synthetic must be said with true or false.")
    if not _is_number(terms.w_max) or not 0 < terms.w_max <= 1:
        raise InputError("The largest weight of a part must be a number above 0 and at most 1.")
    if not isinstance(terms.allowance, str) or not terms.allowance or not terms.allowance.isprintable():
        raise InputError("A budget needs the name of its allowance.")
    numbers = {name: float(getattr(terms, name)) for name in ("epsilon", "alpha", "w_max")}
    return Terms(**{**asdict(terms), **numbers})


def terms_of(opening: Link) -> Terms:
    """The terms kept in an opening entry; `Malformed` if they are none."""
    try:
        return checked_terms(Terms(**json.loads(opening.details)))
    except (TypeError, ValueError, InputError, RecursionError) as error:
        raise Malformed("terms that cannot be read") from error


def opening(corpus: str, terms: Terms) -> Link:
    """The entry that opens a budget: every part gets epsilon, rounded down."""
    grant = (round_down(terms.epsilon),) * terms.parts
    return Link(0, "", OPEN, corpus=corpus, remaining=grant, details=terms.encoded())


def budget_id(newest: Link) -> str:
    """The digest of the entry that opened the budget to which `newest` belongs."""
    return newest.digest if newest.kind == OPEN else newest.budget


def _refuse_if_over(newest: Link, terms: Terms, charges: tuple[int, ...]) -> None:
    if len(charges) != terms.parts:
        raise InputError(
            f"The budget of '{newest.corpus}' has {terms.parts} parts, but {len(charges)} losses were given."
        )
    if newest.kind == STOP:
        raise BudgetRefused(f"The budget of '{newest.corpus}' has stopped; nothing was charged.")
    if newest.used >= terms.queries:
        raise BudgetRefused(
            f"All {terms.queries:,} queries of the budget of '{newest.corpus}' are used; nothing was charged."
        )


def refuse_if_stale(newest: Link, used: int | None) -> None:
    """Refuse losses that were computed from an older state of the budget."""
    if used is not None and newest.used != used:
        raise StaleBudget(f"The budget of '{newest.corpus}' moved on; nothing was charged.")


def debited(newest: Link, terms: Terms, charges: tuple[int, ...], session: str) -> Link:
    """The entry that charges every part in full, or `BudgetRefused`.

    The refusal names no part and no amount: both are functions of private data.
    """
    _refuse_if_over(newest, terms, charges)
    left = tuple(have - charge for have, charge in zip(newest.remaining, charges, strict=True))
    if not all(amount >= 0 for amount in left):
        raise BudgetRefused(
            f"The privacy budget of '{newest.corpus}' does not allow this answer; nothing was charged."
        )
    return _charged(DEBIT, newest, charges, left, session)


def stopped(newest: Link, terms: Terms, charges: tuple[int, ...], session: str) -> Link:
    """The entry of SubMix's sticky STOP: each part pays what it can, and the budget is closed."""
    _refuse_if_over(newest, terms, charges)
    left = tuple(max(0, have - charge) for have, charge in zip(newest.remaining, charges, strict=True))
    return _charged(STOP, newest, charges, left, session)


def _charged(kind: str, newest: Link, charges: tuple[int, ...], left: tuple[int, ...], session: str) -> Link:
    return Link(
        0,
        "",
        kind,
        corpus=newest.corpus,
        budget=budget_id(newest),
        losses=charges,
        remaining=left,
        used=newest.used + 1,
        session=session,
    )


def state(newest: Link, opened: Link, terms: Terms) -> Budget:
    """The budget as it stands after its newest entry."""
    return Budget(
        corpus=newest.corpus,
        **asdict(terms),
        opened=from_micros(opened.time),
        remaining=tuple(to_nats(amount) for amount in newest.remaining),
        used=newest.used,
        stopped=newest.kind == STOP,
    )


def receipt(link: Link) -> Receipt:
    """The receipt for a committed entry."""
    remaining = tuple(to_nats(amount) for amount in link.remaining)
    return Receipt(link.sequence, link.corpus, remaining, link.used, link.digest)
