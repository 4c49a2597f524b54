"""What happens on a click: every handler checks on the server who asks, and answers in sentences."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gradio as gr

from app.components.markup import escape, notice
from app.identity import Curators
from app.noting import session_of
from app.panels.predict.look import Look, empty_answers, look_at, meaning_card, quote_line
from app.panels.predict.moments import OPENING
from app.panels.predict.run import NO_CORPUS, Asked, Page, draw
from app.panels.predict.view import View, noted, see
from core.errors import StudioError
from core.predict.terms import start_over
from core.studio import Studio

TERMS = ("protocol", "epsilon", "alpha", "queries", "w_max")


class Handlers:
    """The panel's handlers; `token` and `visitor` come first in each, and decide what may be seen."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self._studio, self._curators = studio, curators

    def corpora(self) -> list[tuple[str, str]]:
        """What can be asked, the demonstration first; (shown, name)."""
        studio = self._studio
        listed = [(entry.name, entry.name) for entry in studio.ensembles() if entry.fits(studio.settings)]
        return [*listed, ("No corpus: the public model alone", NO_CORPUS)]

    def first_view(self) -> View | None:
        """What the page opens with, as a visitor sees it; a corpus that cannot be read does not stop it."""
        with suppress(StudioError):
            return self._seen("", True, self.corpora()[0][1])
        return None

    def refresh(self) -> dict[str, Any]:
        """The selector with what was trained since the page was built."""
        return gr.update(choices=self.corpora())

    def look(self, token: str, visitor: bool, corpus: str, length: int, power: int) -> list[Any]:
        """All that follows from the corpus and from who is looking."""
        terms = len(TERMS)
        try:
            view = self._seen(token, visitor, corpus)
        except StudioError as error:
            kept = [gr.skip()] * (len(Look._fields) + 4 + terms)
            return [notice(str(error), kind="problem"), *kept]
        synthetic = view is not None and view.synthetic
        return [
            *look_at(view, int(length), 10 ** int(power)),
            gr.update(visible=view is not None and not synthetic and self._curators.knows(token)),
            gr.update(visible=view is not None and view.exact),
            gr.update(visible=view is not None),
            gr.update(visible=view is None or view.entry.shipped),
            *[gr.update(interactive=synthetic)] * (1 + terms),
        ]

    def choose(self, corpus: str) -> list[Any]:
        """Another corpus: empty columns, no verdict, and its own terms, which are public."""
        try:
            view = self._seen("", True, corpus)
        except StudioError:
            return [gr.skip()] * (3 + len(TERMS))
        terms = [getattr(view.state, name) if view else gr.skip() for name in TERMS]
        return [empty_answers(view), "", OPENING, *terms]

    def quote(self, token: str, visitor: bool, corpus: str, length: int) -> str:
        """The price of an answer of this length, at most."""
        try:
            return quote_line(self._seen(token, visitor, corpus), int(length))
        except StudioError as error:
            return escape(error)

    def meaning(self, token: str, visitor: bool, corpus: str, power: int) -> str:
        """The card for another number of candidates."""
        try:
            view = self._seen(token, visitor, corpus)
        except StudioError as error:
            return notice(str(error), kind="problem")
        return meaning_card(view, 10 ** int(power)) if view else ""

    def answer(
        self,
        token: str,
        visitor: bool,
        corpus: str,
        prompt: str,
        temperature: float,
        top_k: int,
        top_p: float,
        length: int,
        request: gr.Request,
    ) -> Iterator[tuple[Any, ...]]:
        """Draw the answers; a refusal is a sentence in the verdict's place."""
        asked = Asked(corpus, prompt, temperature, top_k, top_p, length)
        try:
            yield from draw(
                self._studio, asked, curator=self._sees_all(token, visitor), session=session_of(request)
            )
        except StudioError as error:
            kept = [gr.skip()] * (len(Page._fields) - 1)
            yield (*kept, notice(str(error), kind="problem"))

    def start_over(
        self,
        corpus: str,
        protocol: str,
        epsilon: float,
        alpha: float,
        queries: int,
        w_max: float,
        request: gr.Request,
    ) -> list[Any]:
        """A fresh budget on a synthetic corpus and empty columns; on a private one the reason why not."""
        try:
            view = see(self._studio, corpus, curator=False)
            with noted(self._studio, session_of(request), "start over", view):
                budget = start_over(
                    self._studio.ledger,
                    view.entry.corpus,
                    view.entry.manifest,
                    protocol=protocol,
                    epsilon=epsilon,
                    alpha=alpha,
                    queries=int(queries or 0),
                    w_max=w_max,
                )
        except StudioError as error:
            return [notice(str(error), kind="problem"), *[gr.skip()] * 3]
        words = f"A fresh budget: epsilon {budget.epsilon:g} over {budget.queries:,} queries."
        said = f"{words} This is for demonstration; a private corpus has one budget for good."
        return [notice(said, kind="done"), empty_answers(self._seen("", True, corpus)), "", OPENING]

    def _seen(self, token: str, visitor: bool, corpus: str) -> View | None:
        if corpus == NO_CORPUS:
            return None
        return see(self._studio, corpus, curator=self._sees_all(token, visitor))

    def _sees_all(self, token: str, visitor: bool) -> bool:
        return self._curators.knows(token) and not visitor
