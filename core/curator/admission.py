"""May this text be trained under this name? Asked before anything is learned, on the page and in the shell.

A budget belongs to its corpus for good, and a corpus is known by the name under which it was first trained.
So a name that has a budget keeps its split and its terms, whether its ensemble is still there, was renamed or
was deleted; and a text that an earlier corpus held already does not get a second budget by a second name.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.catalogue import DEMO, Entry, ensemble_folder, list_ensembles
from core.corpus import Corpus, Partition, partition_corpus
from core.curator.imprint import Imprint, Imprints, Split
from core.errors import InputError
from core.settings import Settings
from core.store import Budget, Ledger, Terms
from core.store.budget import checked_corpus, checked_terms

if TYPE_CHECKING:
    from core.ensembles import Plan


@dataclass(frozen=True)
class Standing:
    """What a name stands for already: its ensemble, its corpus in the ledger, its budget and split.

    `declared` is what the imprint of its text says: an ensemble that was written to a folder of its own has
    nothing else here.
    """

    corpus: str
    entry: Entry | None
    budget: Budget | None
    split: Split | None
    declared: bool | None = None

    @property
    def synthetic(self) -> bool | None:
        """What was declared when the name was first used; None for a new name."""
        if self.budget is not None:
            return self.budget.synthetic
        return self.declared if self.entry is None else self.entry.synthetic

    @property
    def fixed(self) -> tuple[object, ...]:
        """What must not have changed by the end of a training."""
        budget = None if self.budget is None else _terms_of(self.budget)
        return self.corpus, self.entry is not None, budget, self.split


@dataclass(frozen=True)
class Admission:
    """A text that may be trained, and on which terms. `notes` are for the curator to read beforehand."""

    name: str
    folder: Path
    partition: Partition
    plan: "Plan"
    imprint: Imprint
    standing: Standing
    adds_to: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def corpus(self) -> Corpus:
        """The text, under the name that the ledger has for it."""
        return self.partition.corpus

    @property
    def terms(self) -> Terms:
        """What the budget is opened with, where none is open."""
        return plan_terms(self.plan, synthetic=self.corpus.synthetic)


def admit(
    settings: Settings,
    ledger: Ledger,
    corpus: Corpus,
    plan: "Plan",
    name: str,
    *,
    guarantees_add: bool = False,
) -> Admission:
    """Check text, plan and name against all that was trained before; an InputError says what to change."""
    from core.ensembles import partition_key
    from core.predict.terms import protocol_under

    if not corpus.synthetic and not settings.durable:
        from core.studio import FORGETFUL  # the studio imports this room

        raise InputError(FORGETFUL)
    if plan.whole_passes and not corpus.synthetic:
        raise InputError("An adapter trained on everything recites it: that is for synthetic corpora only.")
    standing = standing_of(settings, ledger, name)
    corpus = replace(corpus, name=standing.corpus)
    key = partition_key(settings, standing.corpus)
    _refuse_other_kind(name, standing, corpus)
    partition = partition_corpus(corpus, plan.parts, key=key, halves=plan.halves)
    split = Split(plan.parts, plan.halves, partition.fingerprint)
    plan, notes = _kept_terms(name, standing, plan, split)
    protocol_under(checked_terms(plan_terms(plan, synthetic=corpus.synthetic)))
    imprint = Imprints(settings).of(corpus, split)
    adds_to, said = _shared(settings, ledger, imprint, plan, guarantees_add)
    return Admission(
        name=name,
        folder=ensemble_folder(settings, name),
        partition=partition,
        plan=plan,
        imprint=imprint,
        standing=standing,
        adds_to=adds_to,
        notes=(*notes, *said),
    )


def standing_of(settings: Settings, ledger: Ledger, name: str) -> Standing:
    """What the name stands for now; an InputError where it cannot be trained under at all."""
    folder = ensemble_folder(settings, checked_corpus(name))
    entries = list_ensembles(settings)
    if any(entry.shipped and name in (entry.name, DEMO) for entry in entries):
        raise InputError(f"'{name}' is the demonstration that came with the studio; choose another name.")
    entry = next((each for each in entries if each.folder == folder), None)
    corpus = entry.corpus if entry else name
    moved = next((each for each in entries if each.corpus == name and each.folder != folder), None)
    if entry is None and moved is not None:
        raise InputError(
            f"The budget '{name}' belongs to the ensemble that is now called '{moved.name}'. Train it again "
            "under that name, or choose another one."
        )
    imprint = Imprints(settings).read(corpus)
    declared = None if imprint is None else imprint.synthetic
    return Standing(corpus, entry, ledger.budget(corpus), _known_split(entry, imprint), declared)


def _known_split(entry: Entry | None, imprint: Imprint | None) -> Split | None:
    """How the users of a corpus were split, by its ensemble or by what is kept of it."""
    place = entry.manifest.partition if entry is not None else {}
    if "k" in place:
        return Split(int(place["k"]), bool(place.get("halves")), str(place.get("key")))
    return None if imprint is None else imprint.split


def plan_terms(plan: "Plan", *, synthetic: bool) -> Terms:
    """The public terms of a plan."""
    return Terms(
        parts=plan.budget_parts,
        epsilon=plan.epsilon,
        alpha=plan.alpha,
        queries=plan.queries,
        protocol=plan.protocol,
        synthetic=synthetic,
        w_max=plan.w_max,
        allowance=plan.allowance,
    )


def _terms_of(budget: Budget) -> Terms:
    return Terms(
        parts=budget.parts,
        epsilon=budget.epsilon,
        alpha=budget.alpha,
        queries=budget.queries,
        protocol=budget.protocol,
        synthetic=budget.synthetic,
        w_max=budget.w_max,
        allowance=budget.allowance,
    )


def _refuse_other_kind(name: str, standing: Standing, corpus: Corpus) -> None:
    """A name that was private stays private, and one that may be started over never becomes private."""
    if standing.synthetic is None or standing.synthetic == corpus.synthetic:
        return
    if standing.synthetic:
        raise InputError(
            f"'{name}' was declared synthetic, so its budget may be started over; private text needs a name "
            "of its own."
        )
    raise InputError(
        f"'{name}' holds private text and stays private, whatever is declared now; choose another name for a "
        "synthetic corpus."
    )


def _kept_terms(name: str, standing: Standing, plan: "Plan", split: Split) -> tuple["Plan", tuple[str, ...]]:
    """The plan under the terms that the budget was opened with, which training again does not change."""
    budget = standing.budget
    if standing.entry is None and standing.synthetic in (None, True):
        return plan, ()
    if standing.split is None:
        raise InputError(
            f"'{name}' has a budget from an earlier training, but the record of how its users were split is "
            "gone, so nobody can tell what was spent on whom. Choose another name."
        )
    if standing.split != split:
        raise InputError(_other_split(name, standing))
    if budget is None:
        return plan, ()
    kept = replace(
        plan,
        epsilon=budget.epsilon,
        alpha=budget.alpha,
        queries=budget.queries,
        protocol=budget.protocol,
        w_max=budget.w_max,
        allowance=budget.allowance,
    )
    if kept.budget_parts != budget.parts:
        raise InputError(_other_split(name, standing))
    note = (
        f"The budget of '{name}' goes on: epsilon {budget.epsilon:g} at alpha {budget.alpha:g}, "
        f"{budget.used:,} of {budget.queries:,} queries used. Training again gives nothing back."
    )
    return kept, (note,)


def _other_split(name: str, standing: Standing) -> str:
    split = standing.split
    how = f"{split.k} parts{' of two halves' if split.halves else ''}" if split else "another split"
    gone = ", and its budget outlived it" if standing.budget and not standing.entry else ""
    return (
        f"'{name}' was trained with {how}{gone}; another split would move users away from what was spent on "
        "them. Keep the split, or choose another name."
    )


def _shared(
    settings: Settings, ledger: Ledger, new: Imprint, plan: "Plan", guarantees_add: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which earlier corpora the guarantees add up with, and what to say of shared text; or the refusal."""
    alive = {entry.corpus for entry in list_ensembles(settings)}
    adds_to, notes = [], []
    for old in Imprints(settings).others(new.corpus):
        budget = ledger.budget(old.corpus)
        if old.corpus not in alive and (budget is None or not budget.used):
            continue  # deleted before anything was said of it
        documents, users = len(new.documents & old.documents), len(new.users & old.users)
        if documents and not old.synthetic:
            if new.synthetic or not guarantees_add:
                raise InputError(_repeats(new, old.corpus, documents))
            adds_to.append(old.corpus)
            notes.append(_sum(documents, old.corpus, budget, plan))
        elif documents and not new.synthetic:
            notes.append(
                f"{_of(documents, new.documents, 'documents')} were declared synthetic in '{old.corpus}' and "
                "answered from without a limit; no budget covers what was said there."
            )
        elif users and not (new.synthetic or old.synthetic):
            notes.append(
                f"{_of(users, new.users, 'user ids')} are also in '{old.corpus}'. If they are the same "
                "people, what the two budgets promise them adds up."
            )
    return tuple(adds_to), tuple(notes)


def _repeats(new: Imprint, corpus: str, documents: int) -> str:
    shared = f"{_of(documents, new.documents, 'documents')} are also in '{corpus}'"
    if new.synthetic:
        return f"{shared}, which is private: text that was private once cannot be declared synthetic."
    return (
        f"{shared}, which has a budget of its own; a second name would give the same people a second budget. "
        f"Train it again as '{corpus}', or declare that the guarantees add up."
    )


def _sum(documents: int, corpus: str, budget: Budget | None, plan: "Plan") -> str:
    said = f"{documents:,} documents are also in '{corpus}', and the guarantees add"
    if budget is None:
        return f"{said} for the people in both."
    total, alpha = budget.epsilon + plan.epsilon, min(budget.alpha, plan.alpha)
    return (
        f"{said}: for the people in both, epsilon {budget.epsilon:g} and {plan.epsilon:g} make {total:g} at "
        f"alpha {alpha:g}."
    )


def _of(count: int, whole: frozenset[bytes], noun: str) -> str:
    return f"{count:,} of {len(whole):,} {noun}"
