"""What the three ways in share: settings, the store, and the public model, loaded once."""

import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from core.arrival import Arrival, Step, bring_all
from core.catalogue import Entry, find_ensemble, list_ensembles
from core.curator.jobs import Jobs
from core.errors import InputError, LedgerUnavailable, StudioError
from core.lm.public import PublicModel, load_public
from core.settings import Settings
from core.store import Ledger, LogUnavailable, Store, open_store
from core.turns import Turns

if TYPE_CHECKING:
    from core.ensembles import ServedEnsemble

KEPT_IN_MEMORY = 2
_PURGE_SECONDS = 86_400.0
FORGETFUL = (
    "This Space forgets its disk when it restarts, and with it what was spent on whom. Until "
    "SUBMIX_DATABASE_URL names a database that lasts, only corpora declared synthetic are served here."
)


class Studio:
    """One studio for a process. Where the store cannot be opened, the public model still answers."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Store | None = None
        self.store_problem = ""
        self._open_store()
        self._ledger_problem = self.store_problem
        self._loading = threading.Lock()
        self._public: PublicModel | None = None
        self.arrival = Arrival()
        self.turns = Turns()  # all answers share the models, a token at a time
        self._serving = threading.Lock()
        self._served: dict[tuple[str, str], ServedEnsemble] = {}  # the newest last
        self.jobs = Jobs(settings, public=self.public, ledger=self._trusted_ledger, note=self.note)

    def _open_store(self) -> None:
        """Open the store; one that the high-water mark does not know still opens for reading and the log."""
        try:
            self.store = open_store(self.settings)
        except LedgerUnavailable as error:
            self.store_problem = str(error)
            with suppress(StudioError):
                self.store = open_store(self.settings, check=False)
        self._keep_no_longer()

    def _keep_no_longer(self) -> None:
        """Delete what is older than the retention; at start, and once a day while something is noted."""
        self._purged = time.monotonic()
        if self.store:
            with suppress(LogUnavailable):
                self.store.log.purge(timedelta(days=self.settings.retention_days))

    @property
    def ready(self) -> bool:
        """Whether the public model is in memory."""
        return self._public is not None

    def public(self) -> PublicModel:
        """The public model; the first caller loads it and the others wait."""
        with self._loading:
            if self._public is None:
                self._public = _load(self.settings)
            return self._public

    def ensembles(self) -> tuple[Entry, ...]:
        """What can be asked here, the demonstration first."""
        return list_ensembles(self.settings)

    def entry(self, name: str) -> Entry:
        """One of these by name; a sentence that lists them where there is no such name."""
        return find_ensemble(self.settings, name)

    def served(self, name: str) -> "ServedEnsemble":
        """An ensemble in memory; the first caller loads it. Few are kept, for each holds its adapters."""
        from core.ensembles import ServedEnsemble

        entry = self.entry(name)
        if not entry.synthetic and not self.settings.durable:
            raise InputError(FORGETFUL)
        public = self.public()
        key = (str(entry.folder), entry.manifest.created)  # trained again, it is another one
        with self._serving:
            if key not in self._served:
                self._served[key] = ServedEnsemble(entry.folder, public)
            self._served[key] = self._served.pop(key)
            while len(self._served) > KEPT_IN_MEMORY:
                del self._served[next(iter(self._served))]
            return self._served[key]

    def holds(self, name: str) -> bool:
        """Whether an ensemble is in memory, so that an answer can begin at once."""
        wanted = str(self.entry(name).folder)
        return any(folder == wanted for folder, _ in tuple(self._served))

    @property
    def ledger(self) -> Ledger:
        """The privacy ledger; where there is none, the sentence that says why."""
        if self.store is None:
            raise LedgerUnavailable(self.store_problem)
        return self.store.ledger

    def warm_up(self) -> threading.Thread:
        """Load the models in the background, so that the page can open before they are there."""
        thread = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)
        thread.start()
        return thread

    def note(
        self,
        *,
        session: str,
        panel: str,
        action: str,
        outcome: str,
        duration_ms: float,
        text: str | None = None,
        cost: float | None = None,
        corpus: str = "",
        synthetic: bool = False,
    ) -> None:
        """Write a line of the session log; an answer never waits for a log that cannot be written."""
        if self.store is None:
            return
        if time.monotonic() - self._purged > _PURGE_SECONDS:
            self._keep_no_longer()
        try:
            self.store.log.record(
                session=session,
                panel=panel,
                action=action,
                outcome=outcome,
                duration_ms=duration_ms,
                text=text,
                cost=cost,
                corpus=corpus,
                synthetic=synthetic,
            )
        except LogUnavailable as error:
            self.store_problem = str(error)

    def _trusted_ledger(self) -> Ledger:
        """The ledger where it can be written; nobody trains for hours to find that it cannot."""
        if self._ledger_problem:
            raise LedgerUnavailable(self._ledger_problem)
        return self.ledger

    def _warm_up(self) -> None:
        with suppress(StudioError):  # the first request tries again and shows the sentence
            bring_all(self.settings, self.arrival)
            with self.arrival.going(Step("The language model is being loaded")):
                self.public()
            asked_first = next((entry for entry in self.ensembles() if entry.fits(self.settings)), None)
            if asked_first is not None:
                self.served(asked_first.name).warm_up()


def _load(settings: Settings) -> PublicModel:
    if settings.threads:
        import torch

        torch.set_num_threads(settings.threads)
    return load_public(settings.model, settings)
