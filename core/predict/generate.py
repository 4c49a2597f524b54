"""The generation loop: prompt to tokens to text, one token at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import InputError
from core.lm.decode import PublicDecoder, TextStream, encode_prompt
from core.lm.public import PublicModel
from core.predict.decoding import Decoding
from core.privacy.sampling import sample
from core.settings import Settings


@dataclass(frozen=True)
class Piece:
    """One released token, as a visitor sees it."""

    token: int
    text: str


def stream_public(
    public: PublicModel, prompt: str, decoding: Decoding, *, length: int, limits: Settings
) -> Iterator[Piece]:
    """Continue the prompt with the public model alone; closing the iterator cancels between two tokens."""
    if not 1 <= length <= limits.max_new_tokens:
        raise InputError(f"The length must lie between 1 and {limits.max_new_tokens:,} tokens.")
    tokens = encode_prompt(public, prompt, max_chars=limits.max_prompt_chars, new_tokens=length)
    decoder, text = PublicDecoder(public), TextStream(public)
    ends = set(public.tokenizer.all_special_ids)
    logits = decoder.start(tokens)
    for _ in range(length):
        decoded = decoding.from_logits(logits)
        token = decoded.token(sample(decoded.public))
        if token in ends:
            break
        yield Piece(token, text.push(token))
        logits = decoder.step(token)
    rest = text.flush()
    if rest:
        yield Piece(token, rest)
