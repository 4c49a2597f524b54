"""Every request ends in the session log, whether it was answered, stopped or refused."""

import time
from types import TracebackType

from app.panels.predict.view import View
from core.errors import StudioError
from core.studio import Studio


class Noted:
    """Notes one request when its block is left; `cost` is for the curator's eyes, as the log keeps it."""

    def __init__(
        self, studio: Studio, session: str, action: str, text: str | None = None, view: View | None = None
    ) -> None:
        self._studio, self._session, self._action = studio, session, action
        self._text, self._view = text, view
        self._started = time.perf_counter()
        self.outcome = "stopped"
        self.cost: float | None = None

    def __enter__(self) -> "Noted":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._studio.note(
            session=self._session,
            panel="predict",
            action=self._action,
            outcome="refused" if isinstance(error, StudioError) else self.outcome,
            duration_ms=(time.perf_counter() - self._started) * 1000,
            text=self._text,
            cost=self.cost,
            corpus=self._view.entry.corpus if self._view else "",
            synthetic=self._view.synthetic if self._view else False,
        )
