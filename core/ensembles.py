"""From a corpus to an ensemble that answers: partition, train, save, open a budget, serve."""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.corpus.documents import Corpus
from core.corpus.partition import Partition, partition_corpus
from core.errors import BudgetRefused, InputError, LedgerUnavailable
from core.lm.adapters import load_ensemble, save_ensemble
from core.lm.ensemble import Ensemble, EnsembleDecoder
from core.lm.finetune import AdapterData, AdapterReport, Progress, TrainingSettings, finetune
from core.lm.manifest import Manifest, read_manifest
from core.lm.public import PublicModel
from core.predict import Protocol
from core.predict.account import Account
from core.predict.terms import budget_parts, planned_terms, protocol_under
from core.settings import Settings
from core.store import Budget, Ledger
from core.store.key import load_key

WHOLE = "whole"


@dataclass(frozen=True)
class Plan:
    """What is public about an ensemble before any private text is read."""

    parts: int = 8
    halves: bool = False
    epsilon: float = 2.0
    alpha: float = 2.0
    queries: int = 1024
    protocol: str = "strict"
    w_max: float = 0.5
    allowance: str = "banked"
    whole_passes: int = 0  # more than 0 trains one more adapter on everything, for synthetic corpora only
    kept_rank: int | None = None  # the rank at which the parts are stored, below the one they train at
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def __post_init__(self) -> None:
        budget_parts(self.parts, self.halves, self.protocol)  # refuses what does not fit together
        if self.kept_rank is not None and not 1 <= self.kept_rank <= self.training.shape.rank:
            raise InputError(
                f"The rank to keep lies between 1 and the rank of training, {self.training.shape.rank}."
            )

    @property
    def budget_parts(self) -> int:
        """How many remainders the ledger keeps."""
        return budget_parts(self.parts, self.halves, self.protocol)


def partition_key(settings: Settings, name: str) -> bytes:
    """The corpus' own key for placing users: the same at every training, unknown outside."""
    secret = load_key(settings.data_dir / "key")
    return hmac.digest(secret, b"partition\0" + name.encode(), hashlib.sha256)


def train_ensemble(
    corpus: Corpus,
    public: PublicModel,
    plan: Plan,
    folder: Path,
    *,
    key: bytes,
    checkpoints: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    created: str | None = None,
    adds_to: Sequence[str] = (),
    before_save: Callable[[], None] | None = None,
) -> tuple[AdapterReport, ...]:
    """Train one adapter for each part (or half) and write the ensemble to `folder`.

    `adds_to` names the corpora whose guarantees add up with this one's. `before_save` is called when all is
    learned and nothing can be asked yet.
    """
    if plan.whole_passes and not corpus.synthetic:
        raise InputError(
            "An adapter trained on the whole corpus recites it: that is for corpora declared synthetic only."
        )
    partition = partition_corpus(corpus, plan.parts, key=key, halves=plan.halves)
    _refuse_other_places(folder, plan, partition)
    data = _adapter_data(public, corpus, partition, plan)
    result = finetune(public, data, plan.training, folder=checkpoints, progress=progress, cancelled=cancelled)
    if before_save is not None:
        before_save()
    save_ensemble(
        folder,
        result.stack,
        public,
        synthetic=corpus.synthetic,
        partition={
            "corpus": corpus.name,
            "k": plan.parts,
            "halves": plan.halves,
            "key": partition.fingerprint,
            **({"adds_to": list(adds_to)} if adds_to else {}),
        },
        training=asdict(plan.training),
        budget={
            "epsilon": plan.epsilon,
            "alpha": plan.alpha,
            "queries": plan.queries,
            "protocol": plan.protocol,
            "w_max": plan.w_max,
            "allowance": plan.allowance,
        },
        created=created,
        dtype=_half_precision(),
        ranks={
            name: plan.kept_rank or plan.training.shape.rank for name in result.stack.names if name != WHOLE
        },
    )
    return result.reports


class ServedEnsemble:
    """An ensemble in memory with its budget: what the panels, the API and the command line answer from."""

    def __init__(self, folder: Path, public: PublicModel) -> None:
        stack, self.manifest = load_ensemble(folder, public)
        self.public = public
        self.corpus = str(self.manifest.partition.get("corpus") or folder.name)
        self.parts = tuple(name for name in stack.names if name != WHOLE)
        self._protected = Ensemble(public, stack.select(self.parts))
        self._whole = Ensemble(public, stack.select([WHOLE])) if WHOLE in stack.names else None
        self._alone = Ensemble(public, stack.select([]))

    @property
    def plan(self) -> Plan:
        """The public terms in the manifest."""
        return plan_of(self.manifest)

    def decoder(self) -> EnsembleDecoder:
        """A fresh request to all parts."""
        return self._protected.decoder()

    def warm_up(self) -> None:
        """Run every model once, so that weights are laid out before the first answer waits for them."""
        for ensemble in (self._protected, self._whole, self._alone):
            if ensemble is not None:
                ensemble.decoder().start([0])

    def public_decoder(self) -> EnsembleDecoder:
        """A fresh request to the public model alone, by the same arithmetic as its row beside the parts."""
        return self._alone.decoder()

    @property
    def has_unprotected(self) -> bool:
        """Whether there is a model that protects nothing to compare with."""
        return self._whole is not None and self.manifest.synthetic

    def unprotected_decoder(self) -> EnsembleDecoder:
        """A fresh request to the adapter that was trained on everything."""
        if self._whole is None or not self.manifest.synthetic:
            raise InputError("There is no unprotected model here: it is made for synthetic corpora only.")
        return self._whole.decoder()

    def open_budget(self, ledger: Ledger) -> Budget:
        """The corpus' budget, opened with the manifest's terms where it has none yet."""
        found = ledger.budget(self.corpus)
        if found is None:
            with suppress(BudgetRefused):  # another session opened it a moment ago
                return ledger.open_budget(self.corpus, **asdict(planned_terms(self.manifest)))
            found = ledger.budget(self.corpus)
        if found is None:
            raise InputError(f"No privacy budget was opened for '{self.corpus}'.")
        return found

    def account(self, ledger: Ledger) -> Account:
        """The protocol under the corpus' budget; if the ledger is out of reach, each draw asks it again."""
        try:
            protocol = self.protocol(self.open_budget(ledger))
        except LedgerUnavailable:
            protocol = protocol_under(planned_terms(self.manifest))
        return Account(self.corpus, protocol, ledger)

    def protocol(self, budget: Budget) -> Protocol:
        """The budget's protocol, in the state that the ledger has."""
        protocol = protocol_under(budget)
        protocol.restore(budget.remaining, budget.used, budget.stopped)
        return protocol


def plan_of(manifest: Manifest) -> Plan:
    """The public terms of an ensemble on disk."""
    budget, partition = dict(manifest.budget), manifest.partition
    return Plan(parts=int(partition["k"]), halves=bool(partition["halves"]), **budget)


def _refuse_other_places(folder: Path, plan: Plan, partition: Partition) -> None:
    """Training again keeps every user in their part, so that what was spent on them stays spent."""
    if not (folder / "manifest.json").exists():
        return
    before = read_manifest(folder).partition
    if (before.get("k"), before.get("halves"), before.get("key")) != (
        plan.parts,
        plan.halves,
        partition.fingerprint,
    ):
        raise InputError(
            f"{folder.name} was trained with {before.get('k')} parts; another split would move users away "
            "from what was spent on them. Keep the split, or train under another name."
        )


def _adapter_data(public: PublicModel, corpus: Corpus, partition: Partition, plan: Plan) -> list[AdapterData]:
    def encode(texts: list[str]) -> list[list[int]]:
        encoded = public.tokenizer(texts, add_special_tokens=False, split_special_tokens=True).input_ids
        return [list(tokens) for tokens in encoded if tokens]

    data = []
    for part in range(plan.parts):
        for half in (0, 1) if plan.halves else (None,):
            name = f"part-{part + 1:02d}" + ("" if half is None else "ab"[half])
            texts = [document.text for document in partition.documents(part, half)]
            data.append(AdapterData(name, encode(texts)))
    if plan.whole_passes:
        texts = [document.text for document in corpus.documents]
        data.append(AdapterData(WHOLE, encode(texts), passes=plan.whole_passes, validation=0.0))
    return data


def _half_precision() -> Any:
    import torch

    return torch.float16
