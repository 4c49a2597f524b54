"""Every action ends in the session log, whether it was done, stopped or refused."""

import time
from types import TracebackType

import gradio as gr

from core.errors import StudioError
from core.studio import Studio


class Noted:
    """Notes one action when its block is left. A text is kept as the log keeps texts, hashed.

    `outcome` is what is noted where nothing went wrong: a handler that may end early sets it as it goes.
    `cost` is for the curator's eyes.
    """

    def __init__(
        self,
        studio: Studio,
        session: str,
        panel: str,
        action: str,
        *,
        text: str | None = None,
        corpus: str = "",
        synthetic: bool = False,
        outcome: str = "done",
    ) -> None:
        self._studio = studio
        self._line = {"session": session, "panel": panel, "action": action, "corpus": corpus}
        self._text, self._synthetic = text, synthetic
        self._started = time.perf_counter()
        self.outcome = outcome
        self.cost: float | None = None

    def __enter__(self) -> "Noted":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ended = self.outcome if error is None else "refused" if isinstance(error, StudioError) else "stopped"
        self._studio.note(
            **self._line,
            outcome=ended,
            duration_ms=(time.perf_counter() - self._started) * 1000,
            text=self._text,
            cost=self.cost,
            synthetic=self._synthetic,
        )


def session_of(request: gr.Request | None) -> str:
    """The session as Gradio names it, which is what the log knows."""
    return (request.session_hash if request else None) or "none"
