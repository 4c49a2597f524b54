"""The generation loop: prompt to tokens to text, one committed debit for each private token."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from core.errors import InputError, LedgerUnavailable
from core.lm.decode import Decoder, PublicDecoder, TextStream, encode_prompt
from core.lm.public import PublicModel
from core.predict.account import Account, Drawn
from core.predict.decoding import Decoding
from core.privacy.sampling import sample
from core.settings import Settings


@dataclass(frozen=True)
class Released:
    """One released token, as a visitor sees it: the text, and the public count of queries used.

    `public` tells that the public model answered because the queries are used up, the budget has stopped or
    the ledger is out of reach. A part that has faded out by itself is nobody's business but the curator's.
    """

    token: int
    text: str
    used: int = 0
    public: bool = False


@dataclass(frozen=True)
class Accounted:
    """The same token as the curator sees it: with weights, losses and what is left of each part."""

    released: Released
    drawn: Drawn

    @property
    def cost(self) -> float:
        """What the part that paid most paid, in nats."""
        return float(self.drawn.step.losses.max()) if self.drawn.step else 0.0


def stream_public(
    public: PublicModel,
    prompt: str,
    decoding: Decoding,
    *,
    length: int,
    limits: Settings,
    decoder: Decoder | None = None,
) -> Generator[Released, None, None]:
    """Continue the prompt with the public model alone; closing the iterator cancels between two tokens."""
    tokens = _checked(public, prompt, length, limits)

    def draw(logits: Any) -> Drawn:
        decoded = decoding.from_logits(logits)
        return Drawn(decoded.token(sample(decoded.public)), None, 0)

    for accounted in _stream(public, decoder or PublicDecoder(public), tokens, draw, length):
        yield accounted.released


def stream_unprotected(
    public: PublicModel, decoder: Decoder, prompt: str, decoding: Decoding, *, length: int, limits: Settings
) -> Generator[Released, None, None]:
    """Continue the prompt as people do today: the fine-tuned model's own pmf, cut by itself, no account.

    The decoder's rows are the public model and the fine-tuned one; for corpora declared synthetic only.
    """
    tokens = _checked(public, prompt, length, limits)

    def draw(logits: Any) -> Drawn:
        decoded = decoding.from_logits(logits[1:2])
        return Drawn(decoded.token(sample(decoded.public)), None, 0)

    for accounted in _stream(public, decoder, tokens, draw, length):
        yield replace(accounted.released, public=False)


def stream_private(
    public: PublicModel,
    decoder: Decoder,
    account: Account,
    prompt: str,
    decoding: Decoding,
    *,
    length: int,
    limits: Settings,
    session: str = "",
) -> Generator[Accounted, None, None]:
    """Continue the prompt under the account's budget, for the curator's eyes; see `visitors_view`.

    The prompt is checked before anything is charged. A token is drawn after its debit is committed and
    yielded after that, so a crash or a cancel in between costs budget and never privacy.
    """
    tokens = _checked(public, prompt, length, limits)
    with suppress(LedgerUnavailable):  # then each draw says so and the public model answers
        account.budget()

    def draw(logits: Any) -> Drawn:
        return account.draw(decoding.from_logits(logits), session=session)

    yield from _stream(public, decoder, tokens, draw, length)


def visitors_view(stream: Iterator[Accounted]) -> Generator[Released, None, None]:
    """What leaves to a visitor of a private corpus: one sampled token at a time and nothing else."""
    for accounted in stream:
        yield accounted.released


def _checked(public: PublicModel, prompt: str, length: int, limits: Settings) -> list[int]:
    if not 1 <= length <= limits.max_new_tokens:
        raise InputError(f"The length must lie between 1 and {limits.max_new_tokens:,} tokens.")
    return encode_prompt(public, prompt, max_chars=limits.max_prompt_chars, new_tokens=length)


def _stream(
    public: PublicModel, decoder: Decoder, tokens: list[int], draw: Callable[[Any], Drawn], length: int
) -> Generator[Accounted, None, None]:
    text, ends = TextStream(public), set(public.tokenizer.all_special_ids)
    logits = decoder.start(tokens)
    for index in range(length):
        drawn = draw(logits)
        last = index == length - 1 or drawn.token in ends
        piece = text.flush() if drawn.token in ends else text.push(drawn.token)
        if last and drawn.token not in ends:
            piece += text.flush()
        yield Accounted(Released(drawn.token, piece, drawn.used, drawn.step is None), drawn)
        if last:
            return
        logits = decoder.step(drawn.token)
