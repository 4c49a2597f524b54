"""The privacy ledger: budgets belong to corpora, and a debit is committed before its token leaves."""

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from core.errors import BudgetRefused, InputError, LedgerUnavailable, StudioError
from core.store import budget as budgets
from core.store.budget import Budget, Receipt, Terms
from core.store.chain import ADOPT, FIRST, OPEN, Link, follow, genesis
from core.store.clean import clean
from core.store.database import Database, plainly, reason
from core.store.mark import ADOPT_HINT, Mark, MarkFile, disagreement, mark_of
from core.store.rows import (
    Entry,
    digest_at,
    head_of,
    malformed_is_unavailable,
    newest_of,
    read,
    shown,
    spread_between,
)
from core.store.tables import LEDGER, SESSION_LENGTH, to_micros
from core.store.units import charges, to_nats
from core.store.verify import Replay, Verification

_ATTEMPTS = 5  # where a database has no lock that we know, a lost race ends in a unique key and is run again


def utc_now() -> datetime:
    """The clock, replaceable in tests."""
    return datetime.now(UTC)


class Ledger:
    """One append-only chain for all corpora, sessions, threads and processes.

    The newest entry of a corpus is the state of its budget; there is no balance beside the chain that
    could disagree with it. `LedgerUnavailable` from a charge means that nothing may be released; in the
    one case where the commit itself is in doubt, the charge may stand without a release, never the reverse.
    """

    def __init__(self, database: Database, marks: MarkFile, *, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._marks = marks
        self._now = now
        # Opening entries by digest: what has that digest cannot change, so the cache cannot be stale.
        self._openings: dict[str, tuple[Link, Terms]] = {}

    def begin(self, *, check: bool = True) -> None:
        """Make the first entry of a new ledger, and hold the database against the mark.

        With `check` off, a ledger that cannot be trusted still begins, to be verified, shown or adopted.
        """
        try:
            with plainly("The privacy ledger cannot be opened"):
                mark = self._marks.read()
                with self._database.reading() as connection:
                    head = head_of(connection)
                    problem = self._disagreement(connection, mark, head)
                if problem:
                    raise LedgerUnavailable(f"{problem} {ADOPT_HINT}")
                self._settle(mark, head)
        except LedgerUnavailable:
            if check:
                raise

    def open_budget(
        self,
        corpus: str,
        *,
        parts: int,
        epsilon: float,
        alpha: float,
        queries: int,
        protocol: str,
        synthetic: bool,
        w_max: float = Terms.w_max,
        allowance: str = Terms.allowance,
    ) -> Budget:
        """Open the corpus' budget; refused if it has one, for a budget belongs to its corpus for good."""
        terms = budgets.checked_terms(
            Terms(parts, epsilon, alpha, queries, protocol, synthetic, w_max, allowance)
        )

        def step(newest: Link | None, _: Terms | None) -> Link:
            if newest is not None:
                raise BudgetRefused(
                    f"'{corpus}' already has a privacy budget. It belongs to the corpus, not to a session: "
                    "opening another one would forget what was spent."
                )
            return budgets.opening(corpus, terms)

        return self._opened(self._append(corpus, step))

    def restart(
        self,
        corpus: str,
        *,
        parts: int | None = None,
        epsilon: float | None = None,
        alpha: float | None = None,
        queries: int | None = None,
        protocol: str | None = None,
        w_max: float | None = None,
        allowance: str | None = None,
    ) -> Budget:
        """Start a synthetic corpus' budget over, for demonstration; on a private corpus it is refused."""
        wanted = {
            "parts": parts,
            "epsilon": epsilon,
            "alpha": alpha,
            "queries": queries,
            "protocol": protocol,
            "w_max": w_max,
            "allowance": allowance,
        }
        changes = {name: value for name, value in wanted.items() if value is not None}

        def step(_: Link, terms: Terms) -> Link:
            if not terms.synthetic:
                raise BudgetRefused(
                    f"The budget of '{corpus}' cannot be started over: the corpus is private, "
                    "and what was released about it stays released."
                )
            return budgets.opening(corpus, budgets.checked_terms(replace(terms, **changes)))  # type: ignore[arg-type]

        return self._opened(self._append(corpus, _existing(corpus, step)))

    def budget(self, corpus: str) -> Budget | None:
        """The corpus' current budget, or None if none was opened."""
        with plainly("The privacy ledger cannot be read"), self._database.reading() as connection:
            newest = newest_of(connection, budgets.checked_corpus(corpus))
            if newest is None:
                return None
            return budgets.state(newest, *self._opening(connection, newest))

    def burn_down(self, corpus: str, points: int = 48) -> tuple[tuple[int, float], ...]:
        """Queries used and what the weakest part had left then, spread over the budget's life so far.

        A function of private data, as `Budget.remaining` is.
        """
        with plainly("The privacy ledger cannot be read"), self._database.reading() as connection:
            newest = newest_of(connection, budgets.checked_corpus(corpus))
            if newest is None:
                return ()
            opened, _ = self._opening(connection, newest)
            links = spread_between(connection, opened, newest, points)
            return tuple((link.used, to_nats(min(link.remaining))) for link in links)

    def debit(
        self, corpus: str, losses: Iterable[float], *, session: str = "", used: int | None = None
    ) -> Receipt:
        """Charge every part its loss in one transaction, or raise and charge nothing.

        `used` names the state from which the losses were computed; `StaleBudget` if there is a newer one.
        """
        amounts = charges(losses)
        who = clean(session, SESSION_LENGTH)

        def step(newest: Link, terms: Terms) -> Link:
            budgets.refuse_if_stale(newest, used)
            return budgets.debited(newest, terms, amounts, who)

        return budgets.receipt(self._append(corpus, _existing(corpus, step)))

    def stop(
        self, corpus: str, losses: Iterable[float], *, session: str = "", used: int | None = None
    ) -> Receipt:
        """SubMix's sticky STOP: every part pays what it can, and no debit is taken afterwards."""
        amounts = charges(losses)
        who = clean(session, SESSION_LENGTH)

        def step(newest: Link, terms: Terms) -> Link:
            budgets.refuse_if_stale(newest, used)
            return budgets.stopped(newest, terms, amounts, who)

        return budgets.receipt(self._append(corpus, _existing(corpus, step)))

    def corpora(self) -> list[str]:
        """The names of all corpora that have a budget."""
        query = select(LEDGER.c.corpus).where(LEDGER.c.kind == OPEN).distinct().order_by(LEDGER.c.corpus)
        with plainly("The privacy ledger cannot be read"), self._database.reading() as connection:
            return list(connection.scalars(query))

    def entries(self, corpus: str | None = None, limit: int = 100, before: int | None = None) -> list[Entry]:
        """The newest entries first; `before` a sequence, to page on."""
        query = select(LEDGER).order_by(LEDGER.c.sequence.desc()).limit(limit)
        if corpus is not None:
            query = query.where(LEDGER.c.corpus == budgets.checked_corpus(corpus))
        if before is not None:
            query = query.where(LEDGER.c.sequence < before)
        with plainly("The privacy ledger cannot be read"), self._database.reading() as connection:
            return [shown(read(row)) for row in connection.execute(query)]

    def verify(self) -> Verification:
        """Replay the chain and every remainder, and compare with the mark. A broken ledger is a result."""
        replay = Replay()
        problem = self._replay_with_mark(replay)
        breaks = [problem] if problem else []
        head = replay.head.digest if replay.head else ""
        return Verification(replay.entries, replay.budgets, head, (*replay.breaks, *breaks))

    def adopt(self) -> str | None:
        """Accept the database as it is although the mark says otherwise; returns what was accepted.

        The acceptance becomes an entry of the chain. A chain that is broken in itself is not accepted.
        """
        replay = Replay()
        problem = self._replay_with_mark(replay)
        if replay.breaks:
            raise LedgerUnavailable(
                f"This ledger is broken in itself and cannot be adopted: {replay.breaks[0]} "
                "Put a whole copy of the database back."
            )
        if problem is None:
            return None
        accepted = problem.removesuffix(ADOPT_HINT).strip()
        note = Link(0, "", ADOPT, details=json.dumps({"accepted": accepted}))
        with plainly("The database cannot be adopted"):
            with self._database.writing(ledger=True) as connection:
                head = head_of(connection) or self._first(connection)
                link = follow(head, note, now=to_micros(self._now()))
                connection.execute(insert(LEDGER), link.row())
                chain = digest_at(connection, FIRST) or ""
            self._marks.replace(mark_of(chain, link))
        return accepted

    def _append(self, corpus: str, step: Callable[[Link | None, Terms | None], Link]) -> Link:
        """Run one step on the corpus' newest entry and commit what it gives, then move the mark."""
        corpus = budgets.checked_corpus(corpus)
        with plainly("The privacy ledger cannot be written"):
            for attempt in range(1, _ATTEMPTS + 1):
                mark = self._marks.read()  # before the database, which may then only be further on
                try:
                    with self._database.writing(ledger=True) as connection:
                        head = head_of(connection)
                        problem = self._disagreement(connection, mark, head)
                        if problem or head is None:
                            raise LedgerUnavailable(f"{problem or 'The ledger is empty.'} {ADOPT_HINT}")
                        newest = head if head.corpus == corpus else newest_of(connection, corpus)
                        terms = self._opening(connection, newest)[1] if newest else None
                        link = follow(head, step(newest, terms), now=to_micros(self._now()))
                        connection.execute(insert(LEDGER), link.row())
                        # A mark that binds agrees with the database, so its chain is the chain.
                        bound = mark is not None and mark.sequence > FIRST
                        chain = mark.chain if mark and bound else digest_at(connection, FIRST) or ""
                    break
                except IntegrityError:
                    if attempt == _ATTEMPTS:
                        raise
            self._marks.advance(mark_of(chain, link))
        return link

    def _settle(self, mark: Mark | None, head: Link | None) -> None:
        """See to it that chain and mark exist; database and mark are known to agree."""
        if head is None:
            with self._database.writing(ledger=True) as connection:
                head = head_of(connection) or self._first(connection)
        with self._database.reading() as connection:
            chain = digest_at(connection, FIRST) or ""
        if mark is None or mark.chain != chain:
            self._marks.replace(mark_of(chain, head))

    def _first(self, connection: Connection) -> Link:
        link = genesis(secrets.token_hex(16), now=to_micros(self._now()))
        connection.execute(insert(LEDGER), link.row())
        return link

    def _disagreement(self, connection: Connection, mark: Mark | None, head: Link | None) -> str | None:
        return disagreement(
            mark, head, lambda sequence: digest_at(connection, sequence), required=self._database.sqlite
        )

    def _replay_with_mark(self, replay: Replay) -> str | None:
        """Fill `replay`; returns how the mark disagrees. An unreadable database is a break of the replay."""
        damaged = None
        try:
            mark = self._marks.read()
        except LedgerUnavailable as error:
            mark, damaged = None, str(error)
        except OSError as error:
            mark, damaged = None, f"The ledger's high-water mark cannot be read: {reason(error)}."
        query = select(LEDGER).order_by(LEDGER.c.sequence)
        try:
            with self._database.reading() as connection:
                replay.walk(connection.execution_options(yield_per=500).execute(query))
                return damaged or self._disagreement(connection, mark, replay.head)
        except (SQLAlchemyError, StudioError, OSError, ValueError) as error:
            replay.breaks.append(f"The ledger cannot be read to its end: {reason(error)}.")
            return damaged

    def _opening(self, connection: Connection, newest: Link) -> tuple[Link, Terms]:
        digest = budgets.budget_id(newest)
        if digest not in self._openings:
            row = connection.execute(select(LEDGER).where(LEDGER.c.digest == digest)).first()
            if row is None:
                raise LedgerUnavailable(f"Entry {newest.sequence} belongs to a budget that is not there.")
            with malformed_is_unavailable(row.sequence):
                opened = read(row)
                self._openings[digest] = opened, budgets.terms_of(opened)
        return self._openings[digest]

    def _opened(self, link: Link) -> Budget:
        return budgets.state(link, link, budgets.terms_of(link))


def _existing(
    corpus: str, step: Callable[[Link, Terms], Link]
) -> Callable[[Link | None, Terms | None], Link]:
    def checked(newest: Link | None, terms: Terms | None) -> Link:
        if newest is None or terms is None:
            raise InputError(f"No privacy budget was opened for '{corpus}'.")
        return step(newest, terms)

    return checked
