"""Teaching on the page: for one session, kept in a file by whoever taught it, or here by the curator."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.components.upload import forget_upload, is_upload
from app.panels.detect.card_look import card_html, compared_html
from app.panels.detect.handlers import Handlers
from app.panels.detect.layout import TAUGHT
from core.context.detector import SHIPPED, Detector
from core.context.learning.lesson import Lesson, read_lesson, typed
from core.errors import InputError, StudioError

_CURATOR = "Keeping a detector on this server is for the curator. Save yours to a file instead."


class TeachingHandlers:
    """Teach, save, load, and back."""

    def __init__(self, does: Handlers) -> None:
        self._does = does

    def teach(
        self, sensitive: str, harmless: str, which: str, taught: Detector | None, request: gr.Request
    ) -> Iterator[tuple[Any, ...]]:
        """What is said, the taught detector, the list of detectors, the card."""
        yield from self._taught(lambda: typed(sensitive, harmless), which, taught, request)

    def teach_file(
        self, path: str | None, which: str, taught: Detector | None, request: gr.Request
    ) -> Iterator[tuple[Any, ...]]:
        """The same with the sentences of a file."""

        def lesson() -> Lesson:
            if path is None or not is_upload(path):
                raise InputError("Choose a file first.")
            return read_lesson(Path(path))

        try:
            yield from self._taught(lesson, which, taught, request)
        finally:
            forget_upload(path)

    def load_taught(self, path: str | None, request: gr.Request) -> tuple[Any, ...]:
        """A detector from a file that `save` made, for this session."""
        from core.context.evaluate import evaluate
        from core.context.learning.taught_file import read_taught

        try:
            with self._does.noted(request, "load detector"):
                if path is None or not is_upload(path):
                    raise InputError("Choose a file first.")
                found = read_taught(Path(path), self._does.detector(SHIPPED, None))
                return self._changed(
                    found, notice("The taught detector is loaded.", kind="done"), evaluate(found)
                )
        except StudioError as error:
            return notice(str(error), kind="problem"), *[gr.skip()] * 3
        finally:
            forget_upload(path)

    def back_to_shipped(self) -> tuple[Any, ...]:
        """The shipped detector again; what was taught is forgotten."""
        return (
            notice("The shipped detector is in use again.", kind="done"),
            None,
            gr.update(choices=self._does.choices(None), value=SHIPPED),
            card_html(shipped_card()),
        )

    def keep_taught(
        self, token: str, name: str, taught: Detector | None, request: gr.Request
    ) -> tuple[str, Any]:
        """Keep the taught detector on the server."""
        from core.context.saved import save_detector

        return self._kept(
            token, request, "keep detector", lambda: _keep(save_detector, taught, name, self._does)
        )

    def delete_taught(
        self, token: str, name: str, taught: Detector | None, request: gr.Request
    ) -> tuple[str, Any]:
        """Delete a detector from the server."""
        from core.context.saved import delete_detector, saved_names

        def delete() -> str:
            if name not in saved_names(self._does.studio.settings):
                raise InputError(f"There is no saved detector called {name[:80]!r}.")
            delete_detector(name, self._does.studio.settings)
            return f"'{name}' is deleted."

        found = self._kept(token, request, "delete detector", delete)
        return found[0], gr.update(choices=self._does.choices(taught), value=SHIPPED)

    def _kept(self, token: str, request: gr.Request, action: str, do: Any) -> tuple[str, Any]:
        try:
            with self._does.noted(request, action):
                if not self._does.curators.knows(token):
                    raise InputError(_CURATOR)
                return notice(do(), kind="done"), gr.update(choices=self._does.choices(None))
        except StudioError as error:
            return notice(str(error), kind="problem"), gr.skip()

    def _taught(
        self, lesson: Any, which: str, taught: Detector | None, request: gr.Request
    ) -> Iterator[tuple[Any, ...]]:
        from core.context.evaluate import evaluate
        from core.context.learning.teach import teach

        yield notice("Learning, and testing on held-out families: some seconds."), *[gr.skip()] * 3
        try:
            with self._does.noted(request, "teach"):
                given, before = lesson(), self._does.detector(which, taught)
                learned = teach(before, given.sensitive, given.harmless)
                old, new = evaluate(before), evaluate(learned.detector)
        except StudioError as error:
            yield notice(str(error), kind="problem"), *[gr.skip()] * 3
            return
        count = len(given.sensitive) + len(given.harmless)
        said = f"Learned {count - len(learned.not_learned)} of {count} sentences."
        if learned.not_learned:
            said += f" Not learned: {' / '.join(learned.not_learned[:5])}"
        yield self._changed(learned.detector, notice(said, kind="done") + compared_html(old, new), new)

    def _changed(self, detector: Detector, said: str, card: Any) -> tuple[Any, ...]:
        return (
            said + save_html(detector),
            detector,
            gr.update(choices=self._does.choices(detector), value=TAUGHT),
            card_html(card),
        )


def save_html(detector: Detector) -> str:
    """A link that saves the detector; the file is in the link, so that the server keeps no copy."""
    from core.context.learning.taught_file import taught_bytes

    data = base64.b64encode(taught_bytes(detector)).decode()
    return (
        '<p><a class="button" id="teach-save" download="taught-detector.safetensors" '
        f'href="data:application/octet-stream;base64,{data}">Save to a file</a></p>'
    )


def shipped_card() -> Any:
    """The card that ships, if it was made."""
    from core.context.card import Card
    from core.context.saved import CARD

    try:
        return Card.load(CARD)
    except StudioError:
        return None


def _keep(save: Any, taught: Detector | None, name: str, does: Handlers) -> str:
    if taught is None:
        raise InputError("Teach a detector first; then it can be kept.")
    save(taught, (name or "").strip(), does.studio.settings)
    return f"Kept as '{name.strip()}'. `python -m core detect --detector '{name.strip()}'` uses it, too."
