"""Three answers in step: protected, unprotected and public, one token of each at a time."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from core.predict.account import Account, Drawn
from core.predict.decoding import Decoding
from core.predict.generate import Released, stream_private, stream_public, stream_unprotected
from core.privacy.renyi import Floats
from core.settings import Settings
from core.turns import Turns

if TYPE_CHECKING:
    from core.ensembles import ServedEnsemble

Token = TypeVar("Token")


@dataclass(frozen=True)
class Frame:
    """One token of each answer; None where that answer has ended, or where there is none.

    `drawn` is the protected token's account and, like `unprotected`, not for a visitor of a private corpus.
    """

    protected: Released | None
    unprotected: Released | None
    public: Released | None
    drawn: Drawn | None


class Tally:
    """What one answer has cost so far, by part. For the curator, or for a synthetic corpus."""

    def __init__(self) -> None:
        self._paid: Floats | None = None

    @property
    def cost(self) -> float:
        """What the part that paid most paid, in nats."""
        return 0.0 if self._paid is None else float(self._paid.max())

    def add(self, drawn: Drawn | None) -> None:
        """Count one token."""
        if drawn is not None and drawn.step is not None:
            self._paid = drawn.step.losses if self._paid is None else self._paid + drawn.step.losses


def stream_in_step(
    served: "ServedEnsemble",
    account: Account,
    prompt: str,
    decoding: Decoding,
    *,
    length: int,
    limits: Settings,
    turns: Turns,
    tally: Tally | None = None,
    session: str = "",
) -> Generator[Frame, None, None]:
    """Continue the prompt with each model; every token is a turn of its own, so that sessions alternate.

    Closing the generator ends all of them between two tokens.
    """
    public = served.public
    asked: dict[str, Any] = {"length": length, "limits": limits}
    protected = stream_private(public, served.decoder(), account, prompt, decoding, session=session, **asked)
    unprotected = _nothing()
    if served.has_unprotected:
        unprotected = stream_unprotected(public, served.unprotected_decoder(), prompt, decoding, **asked)
    alone = stream_public(public, prompt, decoding, decoder=served.public_decoder(), **asked)
    with closing(protected), closing(unprotected), closing(alone):
        while True:
            accounted = _next(protected, turns)
            beside, plain = _next(unprotected, turns), _next(alone, turns)
            if accounted is None and beside is None and plain is None:
                return
            released, drawn = (accounted.released, accounted.drawn) if accounted else (None, None)
            if tally is not None:
                tally.add(drawn)
            yield Frame(released, beside, plain, drawn)


def visitors_frames(frames: Generator[Frame, None, None]) -> Generator[Frame, None, None]:
    """What a visitor of a private corpus sees: sampled tokens and the public count, nothing else."""
    with closing(frames):
        for frame in frames:
            yield replace(frame, drawn=None, unprotected=None)


def in_turns(stream: Generator[Token, None, None], turns: Turns) -> Generator[Token, None, None]:
    """The same stream, with a turn for each token."""
    with closing(stream):
        while (token := _next(stream, turns)) is not None:
            yield token


def _next(stream: Generator[Token, None, None], turns: Turns) -> Token | None:
    with turns:
        return next(stream, None)


def _nothing() -> Generator[Released, None, None]:
    yield from ()
