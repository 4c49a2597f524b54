"""From a click to pages: draws the answers in step and yields what the page shows after every token."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.components.markup import notice
from app.components.meter import meter_html
from app.panels.predict.answers import PUBLIC, Column, answers_html
from app.panels.predict.look import details_html
from app.panels.predict.moments import drawing
from app.panels.predict.sheet import Sheet
from app.panels.predict.view import noted, see
from core.corpus.demo import planted_in
from core.predict.compare import Tally, in_turns, stream_in_step, visitors_frames
from core.predict.decoding import Decoding
from core.predict.generate import stream_public
from core.predict.verdict import verdict_text
from core.studio import Studio

NO_CORPUS = "/public"  # no ensemble has a slash in its name
LOADING = "Loading the models, a few seconds the first time."
_UNSPENT = "Nothing private was used; nothing was spent."
_PAUSE = 0.04  # seconds between two pages: a fast model draws tokens faster than anybody reads


@dataclass(frozen=True)
class Asked:
    """A request as it was typed and set."""

    corpus: str
    prompt: str
    temperature: float
    top_k: int
    top_p: float
    length: int

    def decoding(self) -> Decoding:
        """How tokens are drawn; a sentence where that makes no sense."""
        return Decoding(temperature=self.temperature, top_k=int(self.top_k) or None, top_p=self.top_p)


class Page(NamedTuple):
    """The pieces of the page that change while an answer is drawn."""

    answers: str
    meter: str
    ribbon: str
    details: str
    verdict: str


def draw(studio: Studio, asked: Asked, *, curator: bool, session: str) -> Iterator[Page]:
    """Answer a request; the last page has the verdict. A `StudioError` has a sentence for the reader."""
    if asked.corpus == NO_CORPUS or studio.store is None:
        return _alone(studio, asked, session)
    return _compared(studio, asked, curator, session)


def _compared(studio: Studio, asked: Asked, curator: bool, session: str) -> Iterator[Page]:
    """Protected, unprotected where nobody in the corpus exists, and public."""
    view, tally = see(studio, asked.corpus, curator=curator), Tally()
    with noted(studio, session, "generate", view, asked.prompt) as note:
        secrets = planted_in(view.entry.corpus, synthetic=view.entry.synthetic)
        sheet = Sheet(view, asked.prompt, compared=view.synthetic, secrets=secrets)
        if not studio.holds(asked.corpus):
            yield _page(sheet, notice(LOADING))
        served = studio.served(asked.corpus)
        sheet.compared = view.synthetic and served.has_unprotected
        frames = stream_in_step(
            served,
            served.account(studio.ledger),
            asked.prompt,
            asked.decoding(),
            length=int(asked.length),
            limits=studio.settings,
            turns=studio.turns,
            tally=tally,
            session=session,
        )
        shown = 0.0
        with closing(frames if view.exact else visitors_frames(frames)) as seen:
            for frame in seen:
                sheet.take(frame)
                note.cost = tally.cost
                if time.monotonic() - shown >= _PAUSE:
                    yield _page(sheet, drawing(sheet.tokens, int(asked.length)))
                    shown = time.monotonic()
    kind = "problem" if sheet.problem else "done"
    yield _page(sheet, notice(verdict_text(sheet.outcome(tally.cost)), kind=kind))


def _alone(studio: Studio, asked: Asked, session: str) -> Iterator[Page]:
    """The public model, where no corpus is asked or the ledger cannot be had."""
    column, tokens, shown = PUBLIC, 0, 0.0
    with noted(studio, session, "generate", None, asked.prompt):
        if not studio.ready:
            yield _one_column(asked.prompt, column, notice(LOADING))
        pieces = stream_public(
            studio.public(), asked.prompt, asked.decoding(), length=int(asked.length), limits=studio.settings
        )
        with closing(in_turns(pieces, studio.turns)) as seen:
            for piece in seen:
                column, tokens = replace(column, text=column.text + piece.text), tokens + 1
                if time.monotonic() - shown >= _PAUSE:
                    yield _one_column(asked.prompt, column, drawing(tokens, int(asked.length)))
                    shown = time.monotonic()
    words = "1 token" if tokens == 1 else f"{tokens} tokens"
    yield _one_column(asked.prompt, column, notice(f"{words} from the public model. {_UNSPENT}", kind="done"))


def _page(sheet: Sheet, verdict: str) -> Page:
    reading = sheet.reading
    return Page(sheet.answers, meter_html(reading), sheet.ribbon, details_html(reading), verdict)


def _one_column(prompt: str, column: Column, verdict: str) -> Page:
    return Page(answers_html(prompt, [column]), "", "", "", verdict)
