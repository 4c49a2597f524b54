"""From a corpus to an ensemble that answers: partition, train, save, open a budget, serve."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.corpus.documents import Corpus
from core.corpus.partition import Partition, partition_corpus
from core.errors import InputError
from core.lm.adapters import Manifest, load_ensemble, read_manifest, save_ensemble
from core.lm.ensemble import Ensemble, EnsembleDecoder
from core.lm.finetune import AdapterData, AdapterReport, Progress, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.predict import PROTOCOLS, FineTuned, Protocol
from core.predict.account import Account
from core.settings import Settings
from core.store import Budget, Ledger
from core.store.key import load_key

WHOLE = "whole"
HALVES_PROTOCOL = "submix"


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
    whole_passes: int = 0  # more than 0 trains one more adapter on everything, for synthetic corpora only
    training: TrainingSettings = field(default_factory=TrainingSettings)

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InputError(f"The protocol is one of {', '.join(PROTOCOLS)} (it is {self.protocol!r}).")
        if self.protocol == HALVES_PROTOCOL and not self.halves:
            raise InputError("SubMix compares two halves of each part: train with halves.")

    @property
    def budget_parts(self) -> int:
        """How many remainders the ledger keeps: SubMix reads halves in pairs, the others each by itself."""
        return self.parts * (2 if self.halves and self.protocol != HALVES_PROTOCOL else 1)


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
) -> tuple[AdapterReport, ...]:
    """Train one adapter for each part (or half) and write the ensemble to `folder`."""
    if plan.whole_passes and not corpus.synthetic:
        raise InputError(
            "An adapter trained on the whole corpus recites it: that is for corpora declared synthetic only."
        )
    partition = partition_corpus(corpus, plan.parts, key=key, halves=plan.halves)
    _refuse_other_places(folder, plan, partition)
    data = _adapter_data(public, corpus, partition, plan)
    result = finetune(public, data, plan.training, folder=checkpoints, progress=progress, cancelled=cancelled)
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
        },
        training=asdict(plan.training),
        budget={
            "epsilon": plan.epsilon,
            "alpha": plan.alpha,
            "queries": plan.queries,
            "protocol": plan.protocol,
            "w_max": plan.w_max,
        },
        created=created,
        dtype=_half_precision(),
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

    @property
    def plan(self) -> Plan:
        """The public terms in the manifest."""
        return plan_of(self.manifest)

    def decoder(self) -> EnsembleDecoder:
        """A fresh request to all parts."""
        return self._protected.decoder()

    def unprotected_decoder(self) -> EnsembleDecoder:
        """A fresh request to the adapter that was trained on everything."""
        if self._whole is None or not self.manifest.synthetic:
            raise InputError("There is no unprotected model here: it is made for synthetic corpora only.")
        return self._whole.decoder()

    def open_budget(self, ledger: Ledger) -> Budget:
        """The corpus' budget, opened with the manifest's terms where it has none yet."""
        plan = self.plan
        return ledger.budget(self.corpus) or ledger.open_budget(
            self.corpus,
            parts=plan.budget_parts,
            epsilon=plan.epsilon,
            alpha=plan.alpha,
            queries=plan.queries,
            protocol=plan.protocol,
            synthetic=self.manifest.synthetic,
        )

    def account(self, ledger: Ledger) -> Account:
        """The protocol under the corpus' budget."""
        return Account(self.corpus, self.protocol(self.open_budget(ledger)), ledger)

    def protocol(self, budget: Budget) -> Protocol:
        """The budget's protocol, in the state that the ledger has."""
        extra: dict[str, object] = {"w_max": self.plan.w_max} if budget.protocol == "strict" else {}
        kind = PROTOCOLS[budget.protocol]
        if not kind.protected:
            extra["synthetic"] = self.manifest.synthetic
        if kind is FineTuned:
            raise InputError(
                "The whole-corpus adapter has a stream of its own; choose a protocol over parts."
            )
        protocol = kind(budget.parts, budget.epsilon, budget.alpha, budget.queries, **extra)  # type: ignore[arg-type]
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
