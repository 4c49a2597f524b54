"""What the three ways in share: settings, the store, and the public model, loaded once."""

import threading
from contextlib import suppress
from datetime import timedelta

from core.errors import LedgerUnavailable, StudioError
from core.lm.public import PublicModel, load_public
from core.settings import Settings
from core.store import LogUnavailable, Store, open_store


class Studio:
    """One studio for a process. Where the store cannot be opened, the public model still answers."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Store | None = None
        self.store_problem = ""
        self._open_store()
        self._loading = threading.Lock()
        self._public: PublicModel | None = None

    def _open_store(self) -> None:
        """Open the store; one that the high-water mark does not know still opens for reading and the log."""
        try:
            self.store = open_store(self.settings)
        except LedgerUnavailable as error:
            self.store_problem = str(error)
            with suppress(StudioError):
                self.store = open_store(self.settings, check=False)
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

    def warm_up(self) -> threading.Thread:
        """Load the public model in the background, so that the page can open before it is there."""
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

    def _warm_up(self) -> None:
        with suppress(StudioError):  # the first request tries again and shows the sentence
            self.public()


def _load(settings: Settings) -> PublicModel:
    if settings.threads:
        import torch

        torch.set_num_threads(settings.threads)
    return load_public(settings.model, settings)
