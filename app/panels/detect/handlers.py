"""What happens on a click: detecting, asking why, sending the text on. Scores and words come from core."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from app.components.markup import escape, notice
from app.components.upload import forget_upload, is_upload
from app.identity import Curators
from app.noting import Noted, session_of
from app.panels.detect import look
from app.panels.detect.layout import SHIPPED_TITLE, TAUGHT, TAUGHT_TITLE
from app.panels.detect.why import PICK, model_context_html, why_html
from app.panels.sanitize.handlers import context_html
from core.context.asked import Found, find, known_detector, likely_secret, read_text
from core.context.detector import SHIPPED, Detector
from core.errors import InputError, StudioError
from core.studio import Studio

_NOT_YET = "Find the sensitive sentences first."
_CHANGED = "The text was changed since it was looked at. Find the sensitive sentences again."
_SUBSETS = 160  # sets of words that the language model is asked about, at most
_FIRST = "Loading the detector, a few seconds the first time."


class Handlers:
    """The panel's handlers."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self.studio, self.curators = studio, curators
        self._loaded = False

    def detector(self, which: str, taught: Detector | None) -> Detector:
        """The chosen detector; the one that was taught lives in its session."""
        if which != TAUGHT:
            return known_detector(which, self.studio.settings)
        if taught is None:
            raise InputError("What was taught is gone after an hour without use. Teach it again.")
        return taught

    def choices(self, taught: Detector | None) -> list[tuple[str, str]]:
        """The detectors that can be chosen, (shown, name)."""
        from core.context.saved import saved_names

        own = [(TAUGHT_TITLE, TAUGHT)] if taught is not None else []
        saved = [(name, name) for name in saved_names(self.studio.settings)]
        return [(SHIPPED_TITLE, SHIPPED), *own, *saved]

    def refresh_detectors(self, token: str, taught: Detector | None) -> tuple[Any, Any]:
        """The list of detectors with what was saved since, and what only a curator may do."""
        return gr.update(choices=self.choices(taught)), gr.update(visible=self.curators.knows(token))

    def mark(
        self, text: str, which: str, threshold: float, taught: Detector | None, request: gr.Request
    ) -> Iterator[tuple[Any, ...]]:
        """Said, summary, marked text, plot, exports, found; then why and what was picked are emptied."""
        kept = (gr.skip(),) * 9
        if not self._loaded:
            yield (notice(_FIRST), *kept)
        try:
            with self.noted(request, "detect", text):
                found = find(text, self.detector(which, taught).at(float(threshold)))
                self._loaded = True
        except StudioError as error:
            yield (notice(str(error), kind="problem"), *kept)
            return
        yield ("", *shown(found), f'<p class="small">{PICK}</p>', "", -1, "")

    def move(self, found: Found | None, threshold: float) -> tuple[Any, ...]:
        """Another threshold: the same scores, marked anew."""
        return shown(found.at(float(threshold))) if found is not None else (gr.skip(),) * 5

    def choose(self, which: str, taught: Detector | None) -> tuple[Any, Any]:
        """Another detector comes with its own threshold."""
        try:
            return self.detector(which, taught).threshold, ""
        except StudioError as error:
            return gr.skip(), notice(str(error), kind="problem")

    def upload(self, path: str | None, request: gr.Request) -> tuple[Any, Any]:
        """The text of a file into the box; the file is deleted from the web server's cache."""
        try:
            with self.noted(request, "upload"):
                if path is None or not is_upload(path):
                    raise InputError("Choose a text file first.")
                return read_text(Path(path)), ""
        except StudioError as error:
            return gr.skip(), notice(str(error), kind="problem")
        finally:
            forget_upload(path)

    def why(
        self, found: Found | None, request: gr.Request, event: gr.SelectData
    ) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Why, the likely secret, which sentence, and an empty answer of the language model."""
        from core.context.deciding import deciding_words

        if found is None:
            yield notice(_NOT_YET), gr.skip(), gr.skip(), gr.skip()
            return
        try:
            place = _place(event.index, found)
            sentence = found.sentences[place]
            waiting = f'<p class="small">Looking for the words that matter in: {escape(sentence.text)}</p>'
            yield waiting, likely_secret(sentence.text), place, ""
            with self.noted(request, "why", sentence.text):
                before = found.before(place)
                words = deciding_words(found.detector, sentence.text, before)
                near = found.detector.nearest_families(sentence.text)
                yield why_html(sentence, before, words, near), gr.skip(), gr.skip(), gr.skip()
        except StudioError as error:
            yield notice(str(error), kind="problem"), gr.skip(), gr.skip(), gr.skip()

    def ask_model(
        self, found: Found | None, place: int, secret: str, alpha: float, request: gr.Request
    ) -> Iterator[str]:
        """The words after which the public language model gives the secret about the same probability."""
        from core.context.alpha import alpha_context

        if found is None or not 0 <= int(place) < len(found.sentences):
            yield notice("Click a sentence first.")
            return
        yield notice("Asking the public language model about sets of words; this takes some seconds.")
        sentence, before = found.sentences[int(place)], found.before(int(place))
        text = " ".join(f"{before} {sentence.text}".split()) if len(before) < 120 else sentence.text
        try:
            with self.noted(request, "alpha-context", sentence.text):
                wanted = (secret or "").strip()
                if not wanted or wanted not in text:
                    raise InputError("The secret must be a part of the sentence, letter by letter.")
                result = alpha_context(
                    text, wanted, float(alpha), self.studio.public(), relative=True, most_subsets=_SUBSETS
                )
        except StudioError as error:
            yield notice(str(error), kind="problem")
            return
        yield model_context_html(text, wanted, result)

    def protect(self, text: str, found: Found | None, request: gr.Request) -> tuple[Any, ...]:
        """Said, then for Sanitize: its text, its policies, its detector; and its tab is opened."""
        skipped = (gr.skip(),) * 5
        if found is None or not found.flagged:
            return notice(
                _NOT_YET if found is None else "Nothing is flagged, so nothing would change."
            ), *skipped
        if text != found.text:
            return notice(_CHANGED), *skipped
        with self.noted(request, "protect", text):
            return (
                "",
                text,
                ["context"],
                found.detector,
                context_html(["context"], found.detector),
                gr.Tabs(selected="sanitize"),
            )

    def noted(self, request: gr.Request | None, action: str, text: str | None = None) -> Noted:
        """A line of the session log for what the block does."""
        return Noted(self.studio, session_of(request), "detect", action, text=text)


def shown(found: Found) -> tuple[Any, ...]:
    """Summary, marked text, plot, exports, and what is kept in the session."""
    return (
        look.summary_html(found),
        look.marked_text_html(found),
        look.plot_html(found),
        look.exports_html(found),
        found,
    )


def _place(index: object, found: Found) -> int:
    if not isinstance(index, int) or not 0 <= index < len(found.sentences):
        raise InputError("There is no such sentence.")
    return index
