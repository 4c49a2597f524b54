"""Decoding one token at a time: a request owns its key-value cache and shares nothing but the weights."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import InputError
from core.lm.public import PublicModel

if TYPE_CHECKING:
    import torch


class Decoder(Protocol):
    """What the generation loop needs of a model or of a stack of models.

    `start` reads the prompt and `step` one more token; both return next-token logits of shape (rows, V),
    row 0 being the public model.
    """

    def start(self, prompt: list[int]) -> "torch.Tensor":
        """Read the prompt into a fresh cache."""

    def step(self, token: int) -> "torch.Tensor":
        """Read one more token."""


@dataclass
class PublicDecoder:
    """The public model alone, as a `Decoder` with one row."""

    public: PublicModel
    _cache: Any = field(default=None, init=False, repr=False)

    def start(self, prompt: list[int]) -> "torch.Tensor":
        """Read the prompt into a fresh cache."""
        self._cache = None
        return self._forward(prompt)

    def step(self, token: int) -> "torch.Tensor":
        """Read one more token."""
        return self._forward([token])

    def _forward(self, tokens: list[int]) -> "torch.Tensor":
        import torch

        with torch.inference_mode():
            output = self.public.model(
                torch.tensor([tokens]), past_key_values=self._cache, use_cache=True, logits_to_keep=1
            )
        self._cache = output.past_key_values
        return output.logits[:, -1]  # (1, V)


def encode_prompt(public: PublicModel, prompt: str, *, max_chars: int, new_tokens: int) -> list[int]:
    """The prompt's tokens, or a sentence that says what is wrong with it.

    Special tokens typed as text stay text: a visitor cannot end the document or open a chat turn.
    """
    if not prompt.strip():
        raise InputError("The prompt is empty. Type a few words for the model to continue.")
    if len(prompt) > max_chars:
        raise InputError(f"The prompt has {len(prompt):,} characters; at most {max_chars:,} are taken.")
    for position, character in enumerate(prompt):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise InputError(
                f"The prompt has an invalid character at position {position + 1:,} "
                "(a NUL or half of a surrogate pair). Remove it and send again."
            )
    tokens = public.tokenizer(prompt, add_special_tokens=False, split_special_tokens=True).input_ids
    if len(tokens) + new_tokens > public.context:
        raise InputError(
            f"The prompt has {len(tokens):,} tokens and the answer may take {new_tokens:,} more; "
            f"the model reads at most {public.context:,}. Shorten one of them."
        )
    return list(tokens)


class TextStream:
    """Turns tokens into text as they come, holding back bytes of a character that is not whole yet."""

    def __init__(self, public: PublicModel) -> None:
        self._tokenizer = public.tokenizer
        self._window: list[int] = []  # recent tokens, decoded together: a character may span several
        self._shown = ""
        self._held = 0

    def push(self, token: int) -> str:
        """The text that this token adds; empty while a character is incomplete."""
        self._window.append(token)
        text = self._decode()
        if text.endswith("\ufffd") and self._held < 4:  # no character has more than four bytes
            self._held += 1
            return ""
        added, self._shown, self._held = text[len(self._shown) :], text, 0
        if len(self._window) > 64:  # keep one token: some tokenizers drop the space before a first one
            self._window = [token]
            self._shown = self._decode()
        return added

    def flush(self) -> str:
        """What was still held back at the end."""
        added, self._window, self._shown = self._decode()[len(self._shown) :], [], ""
        return added

    def _decode(self) -> str:
        return str(self._tokenizer.decode(self._window, clean_up_tokenization_spaces=False))
