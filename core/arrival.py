"""How far the models are on their way: brought, converted, loaded. The page shows it while one waits."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.embedded import LANGUAGE_MODEL, SENTENCE_ENCODER, WORD_VECTORS, bring, present
from core.errors import StudioError
from core.lm.public import prepare_embedded
from core.settings import EMBEDDED, Settings

_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Step:
    """What is going on, how far it is (None where nobody knows), and about how long it will take."""

    doing: str
    share: float | None = None
    seconds_left: float | None = None


class Arrival:
    """The step that the models are at, for any thread to read; None before it began and when all is there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step: Step | None = None
        self.problem = ""  # why a model did not come; the first answer tries again

    @property
    def step(self) -> Step | None:
        """What is going on now."""
        with self._lock:
            return self._step

    @contextmanager
    def going(self, step: Step) -> Iterator[Callable[[int, int], None]]:
        """A step with its beginning and end; gives what to call with bytes done and in all."""
        self._set(step)
        begun = time.monotonic()

        def progress(done: int, total: int) -> None:
            left = (time.monotonic() - begun) * (total - done) / done if done else None
            doing = f"{step.doing}, {done // _MEGABYTE:,} of {total // _MEGABYTE:,} MB"
            self._set(Step(doing, done / total if total else None, left))

        try:
            yield progress
        except StudioError as error:
            self.problem = str(error)
            raise
        finally:
            self._set(None)

    def _set(self, step: Step | None) -> None:
        with self._lock:
            self._step = step


def bring_all(settings: Settings, arrival: Arrival) -> None:
    """Bring what the settings call for and is not here yet, the language model first."""
    wanted = (
        (settings.model, LANGUAGE_MODEL, "The language model arrives"),
        (settings.encoder, SENTENCE_ENCODER, "The sentence encoder arrives"),
        (settings.vectors, WORD_VECTORS, "The word vectors arrive"),
    )
    for name, carrier, doing in wanted:
        if name == EMBEDDED and not present(carrier, settings.cache_dir):
            with arrival.going(Step(doing)) as progress:
                bring(carrier, settings.cache_dir, progress)
        if name == EMBEDDED and carrier is LANGUAGE_MODEL:
            with arrival.going(Step("The language model is made ready, once, in about half a minute")):
                prepare_embedded(settings)
