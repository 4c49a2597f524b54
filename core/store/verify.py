"""Replay the whole ledger and say, in a sentence each, every place where it does not hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.errors import StudioError
from core.store import budget as budgets
from core.store.chain import ADOPT, DEBIT, FIRST, GENESIS, NOTHING, OPEN, STOP, Link, Malformed, from_row


@dataclass(frozen=True)
class Verification:
    """What `Ledger.verify` found."""

    entries: int
    budgets: int
    head: str  # the digest of the newest entry
    breaks: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the chain and every remainder hold."""
        return not self.breaks


@dataclass(frozen=True)
class _Account:
    newest: Link
    opened: Link
    terms: budgets.Terms


class Replay:
    """Walks the chain from its first entry. After a break it goes on from what is stored, so that one
    break is told once and does not hide the next one."""

    def __init__(self) -> None:
        self.entries = 0
        self.budgets = 0
        self.head: Link | None = None
        self.breaks: list[str] = []
        self._accounts: dict[str, _Account] = {}

    def walk(self, rows: Iterable[Any]) -> "Replay":
        """Take every row in the order of its sequence."""
        for row in rows:
            self.entries += 1
            try:
                link = from_row(row)
            except Malformed as error:
                self.breaks.append(f"Entry {row.sequence} holds {error}.")
                continue
            self._check_chain(link)
            try:
                problem = self._check_content(link)
            except (Malformed, StudioError) as error:
                problem = f"cannot stand where it stands ({str(error).rstrip('.')})"
            if problem:
                self.breaks.append(f"Entry {link.sequence} {problem}.")
            self.head = link
        return self

    def _check_chain(self, link: Link) -> None:
        expected = self.head.sequence + 1 if self.head else FIRST
        if link.sequence != expected:
            last = link.sequence - 1
            missing = f"Entry {expected} is" if last == expected else f"Entries {expected} to {last} are"
            self.breaks.append(f"{missing} missing.")
        elif link.previous != (self.head.digest if self.head else NOTHING):
            self.breaks.append(f"Entry {link.sequence} does not follow from the entry before it.")
        if not link.intact:
            self.breaks.append(f"Entry {link.sequence} was changed: its content does not match its digest.")
        if self.head and link.time < self.head.time:
            self.breaks.append(f"Entry {link.sequence} is dated before the entry that it follows.")

    def _check_content(self, link: Link) -> str | None:
        if (link.kind == GENESIS) != (link.sequence == FIRST):
            return f"is of kind '{link.kind}', which cannot stand there"
        if link.kind in (GENESIS, ADOPT):
            carries = link.corpus or link.budget or link.losses or link.remaining or link.used
            return "carries amounts, which its kind never does" if carries else None
        if link.kind == OPEN:
            return self._check_opening(link)
        if link.kind in (DEBIT, STOP):
            return self._check_charge(link)
        return f"is of an unknown kind, '{link.kind}'"

    def _check_opening(self, link: Link) -> str | None:
        before = self._accounts.get(link.corpus)
        terms = budgets.terms_of(link)
        self._accounts[link.corpus] = _Account(link, link, terms)
        self.budgets += 1
        expected = budgets.opening(link.corpus, terms)
        if (link.remaining, link.losses, link.used, link.budget) != (expected.remaining, (), 0, ""):
            return "opens a budget with amounts that are not its terms'"
        if before and not (before.terms.synthetic and terms.synthetic):
            return "opens a second budget for a corpus that is not synthetic"
        return None

    def _check_charge(self, link: Link) -> str | None:
        account = self._accounts.get(link.corpus)
        if account is None:
            return "charges a budget that was never opened"
        self._accounts[link.corpus] = _Account(link, account.opened, account.terms)
        if min(link.losses, default=0) < 0:
            return "charges less than nothing"
        step = budgets.debited if link.kind == DEBIT else budgets.stopped
        expected = step(account.newest, account.terms, link.losses, link.session)
        if link.budget != expected.budget:
            return "charges another budget than the corpus' current one"
        if link.used != expected.used:
            return f"counts {link.used:,} queries where {expected.used:,} were made"
        if link.remaining != expected.remaining:
            return "leaves another remainder than the entries before it give"
        return None
