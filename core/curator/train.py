"""An admitted text becomes an ensemble with a budget: imprint first, then the ensemble, then the budget."""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from core.curator.admission import Admission, standing_of
from core.curator.imprint import Imprints
from core.errors import InputError
from core.settings import Settings
from core.store import Ledger

if TYPE_CHECKING:
    from core.lm.finetune import AdapterReport, Progress
    from core.lm.public import PublicModel

_SPARE = 256_000_000  # bytes for checkpoints and the ensemble
_IN_MEMORY = 1 << 30  # states of an adapter beyond this are kept in a file
_AT_ONCE = 4  # adapters that train together
_CHARS_A_TOKEN = 3  # fewer than there are, so that the estimate is high


def train_admitted(
    admission: Admission,
    settings: Settings,
    ledger: Ledger,
    public: "PublicModel",
    *,
    checkpoints: Path,
    open_budget: bool = True,
    progress: "Callable[[Progress], None] | None" = None,
    cancelled: Callable[[], bool] | None = None,
) -> "tuple[AdapterReport, ...]":
    """Train, and open the budget. `checkpoints` holds private material: the caller deletes it."""
    from core.ensembles import train_ensemble

    _refuse_without_room(admission, settings, public)

    def seal() -> None:
        """Before anything can be asked: nobody moved the name meanwhile, and the text is remembered."""
        if standing_of(settings, ledger, admission.name).fixed != admission.standing.fixed:
            raise InputError(
                f"'{admission.name}' or its budget was changed by somebody else during the training; nothing "
                "was replaced."
            )
        Imprints(settings).add(admission.imprint)

    reports = train_ensemble(
        admission.corpus,
        public,
        admission.plan,
        admission.folder,
        key=admission.partition.key,
        checkpoints=checkpoints,
        progress=progress,
        cancelled=cancelled,
        adds_to=admission.adds_to,
        before_save=seal,
    )
    if open_budget:
        _settle_budget(admission, ledger)
    return reports


def _settle_budget(admission: Admission, ledger: Ledger) -> None:
    """Open the budget of a new corpus. A private one keeps what it has; a synthetic one may start over."""
    name, terms = admission.corpus.name, asdict(admission.terms)
    standing = ledger.budget(name)
    if standing is None:
        ledger.open_budget(name, **terms)
    elif standing.synthetic and any(getattr(standing, key) != value for key, value in terms.items()):
        del terms["synthetic"]
        ledger.restart(name, **terms)


def _refuse_without_room(admission: Admission, settings: Settings, public: "PublicModel") -> None:
    """A disk that fills up in the middle would end the training, so it is asked before."""
    longest = max(size.characters for size in admission.partition.sizes)
    if admission.plan.whole_passes:
        longest = admission.corpus.characters
    states = 4 * int(public.model.config.hidden_size) * longest // _CHARS_A_TOKEN
    needed = _SPARE + (_AT_ONCE * states if states > _IN_MEMORY else 0)
    free = shutil.disk_usage(settings.data_dir).free
    if free < needed:
        raise InputError(
            f"Training needs about {needed / 1e9:.1f} GB in {settings.data_dir}, "
            f"and {free / 1e9:.1f} GB are free."
        )
