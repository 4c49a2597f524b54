"""The API, also as MCP tools: the same answers for programs, a visitor's view unless a token is sent."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import gradio as gr
from gradio.events import api

from app.identity import Curators
from app.noting import session_of
from app.panels.predict.run import Asked
from app.panels.predict.view import View, noted, see
from app.refusal import refusal
from core.errors import StudioError
from core.predict.compare import Tally, in_turns
from core.predict.generate import stream_private, stream_public
from core.studio import Studio

CONCURRENT = 4  # answers in the making at once; they take turns by the token


def build(studio: Studio, curators: Curators) -> None:
    """The named endpoints: generate, budget, quote, corpora and, where there is a curator, sign_in."""

    def generate(
        prompt: str,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        length: int = 64,
        corpus: str = "",
        token: str = "",
        request: gr.Request | None = None,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Continue a prompt under a corpus' privacy budget; streams the text so far and its account.

        Every token is paid for before it leaves. The account has the public count of queries; what the
        answer cost is in it only for a synthetic corpus or with a curator's token.

        Args:
            prompt: the text to continue.
            temperature: below 1 is more predictable, above 1 more surprising; 0.05 to 4.
            top_k: draw among this many of the public model's likeliest tokens only; 0 means among all.
            top_p: draw among the public model's likeliest tokens of this share of probability; 1 means all.
            length: the number of tokens to draw at most.
            corpus: one of the names that `corpora` lists; empty asks the public model alone.
            token: a curator's token, for the exact account on a private corpus.
        """
        asked = Asked(corpus, prompt, temperature, top_k, top_p, length)
        session = session_of(request)
        with _sentences():
            if corpus and studio.store is not None:
                yield from _private(studio, asked, curators.knows(token), session)
            else:
                yield from _public(studio, asked, session)

    def budget(corpus: str, token: str = "") -> dict[str, Any]:
        """The privacy budget of a corpus: its terms and the public count of queries used.

        What each part has left is in it only for a synthetic corpus or with a curator's token.

        Args:
            corpus: one of the names that `corpora` lists.
            token: a curator's token, for what is left on a private corpus.
        """
        with _sentences():
            return budget_of(see(studio, corpus, curator=curators.knows(token)))

    def quote(corpus: str, length: int = 64) -> float:
        """The most that any part can pay for so many more tokens, in nats, from public facts alone.

        Args:
            corpus: one of the names that `corpora` lists.
            length: the number of tokens.
        """
        with _sentences():
            return see(studio, corpus, curator=False).quote(int(length))

    def corpora() -> list[dict[str, Any]]:
        """The corpora that can be asked here, with the terms of their budgets."""
        with _sentences():
            return [
                budget_of(see(studio, entry.name, curator=False), terms_only=True)
                for entry in studio.ensembles()
                if entry.fits(studio.settings)
            ]

    def sign_in(password: str) -> str:
        """A curator's token, good for twelve hours; the other endpoints take it for the exact account.

        Args:
            password: the curator's password.
        """
        with _sentences():
            return curators.sign_in(password)

    api(generate, api_name="generate", concurrency_id="model", concurrency_limit=CONCURRENT)
    api(budget, api_name="budget")
    api(quote, api_name="quote")
    api(corpora, api_name="corpora")
    if studio.settings.curator_password is not None:
        api(sign_in, api_name="sign_in")


def budget_of(view: View, *, terms_only: bool = False) -> dict[str, Any]:
    """A budget as JSON, with what this reader may see."""
    state, reading = view.state, view.reading
    told: dict[str, Any] = {
        "corpus": view.entry.name,
        "synthetic": view.synthetic,
        "protocol": state.protocol,
        "parts": state.parts,
        "epsilon": state.epsilon,
        "alpha": state.alpha,
        "queries": state.queries,
        "used": reading.used,
    }
    if view.exact and not terms_only:
        told |= {"remaining": list(reading.remaining), "weakest": reading.weakest, "state": reading.state}
    return told


def _private(
    studio: Studio, asked: Asked, curator: bool, session: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    view, tally, text = see(studio, asked.corpus, curator=curator), Tally(), ""
    with noted(studio, session, "generate", view, asked.prompt) as note:
        served = studio.served(asked.corpus)
        stream = stream_private(
            served.public,
            served.decoder(),
            served.account(studio.ledger),
            asked.prompt,
            asked.decoding(),
            length=int(asked.length),
            limits=studio.settings,
            session=session,
        )
        tokens = public = 0
        with closing(in_turns(stream, studio.turns)) as answer:
            for accounted in answer:
                released, text, tokens = accounted.released, text + accounted.released.text, tokens + 1
                public += released.public
                tally.add(accounted.drawn)
                note.cost = tally.cost
                told: dict[str, Any] = {"tokens": tokens, "public": public, "used": released.used}
                yield text, told | ({"cost": tally.cost} if view.exact else {})


def _public(studio: Studio, asked: Asked, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
    text = ""
    with noted(studio, session, "generate", None, asked.prompt):
        stream = stream_public(
            studio.public(), asked.prompt, asked.decoding(), length=int(asked.length), limits=studio.settings
        )
        with closing(in_turns(stream, studio.turns)) as answer:
            for tokens, released in enumerate(answer, 1):
                text += released.text
                yield text, {"tokens": tokens, "public": tokens}


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn the project's errors into Gradio's, with their sentence and their code."""
    try:
        yield
    except StudioError as error:
        raise refusal(error) from error
