"""The chance that a language model gives a secret after a context, for many contexts at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from core.context.batches import by_length
from core.errors import InputError

if TYPE_CHECKING:
    from core.lm.ensemble import Ensemble
    from core.lm.public import PublicModel

_BATCH_TOKENS = 1024


class Likelihood(Protocol):
    """A language model's chance of a text after each of several contexts."""

    def log_probabilities(self, contexts: Sequence[str], secret: str) -> NDArray[np.float64]:
        """log p(secret | context) for each context; an empty context is the beginning of a text."""


def as_likelihood(model: "PublicModel | Likelihood") -> Likelihood:
    """A public model read through `PublicLikelihood`; anything that has the call already as it is."""
    if hasattr(model, "log_probabilities"):
        return model
    return PublicLikelihood(model)


class PublicLikelihood:
    """The public model's, or any causal transformers model's, probabilities; contexts in batches."""

    def __init__(self, public: "PublicModel") -> None:
        self._public = public

    def log_probabilities(self, contexts: Sequence[str], secret: str) -> NDArray[np.float64]:
        """log p(secret | context), the sum over the secret's tokens."""
        rows = [_tokens(self._public, context, secret) for context in contexts]
        found = np.empty(len(rows))
        for batch in by_length([len(ids) for ids, _ in rows], _BATCH_TOKENS):
            found[batch] = self._read([rows[row] for row in batch])
        return found

    def _read(self, rows: list[tuple[list[int], int]]) -> NDArray[np.float64]:
        import torch

        longest = max(len(ids) for ids, _ in rows)
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for place, (own, _) in enumerate(rows):
            ids[place, : len(own)] = torch.tensor(own)
            mask[place, : len(own)] = 1
        # (row, position) of every token of the secret; the law of a token stands one position before it
        places = [(place, at) for place, (own, start) in enumerate(rows) for at in range(start, len(own))]
        at_row, at = (torch.tensor(each) for each in zip(*places, strict=True))
        first = min(start for _, start in rows) - 1
        with torch.inference_mode():
            logits = self._public.model(ids, attention_mask=mask, logits_to_keep=longest - first).logits
            laws = logits[at_row, at - 1 - first].double().log_softmax(-1)  # (tokens, V)
        found = torch.zeros(len(rows), dtype=torch.float64)
        return found.index_add_(0, at_row, laws[torch.arange(len(places)), ids[at_row, at]]).numpy()


class EnsembleLikelihood:
    """One row of an ensemble: the public model (0) or an adapter."""

    def __init__(self, ensemble: "Ensemble", public: "PublicModel", row: int) -> None:
        if not 0 <= row < ensemble.rows:
            raise InputError(f"The ensemble has rows 0 to {ensemble.rows - 1}.")
        self._ensemble, self._public, self._row = ensemble, public, row

    def log_probabilities(self, contexts: Sequence[str], secret: str) -> NDArray[np.float64]:
        """log p(secret | context), the sum over the secret's tokens."""
        rows = [_tokens(self._public, context, secret) for context in contexts]
        return np.array(
            [
                float(self._ensemble.log_likelihoods(ids)[self._row, start - 1 :].double().sum())
                for ids, start in rows
            ]
        )


def _tokens(public: "PublicModel", context: str, secret: str) -> tuple[list[int], int]:
    """The tokens of a text's beginning, the context and the secret, and where the secret's start."""
    tokenizer = public.tokenizer
    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    read = {"add_special_tokens": False, "split_special_tokens": True}
    before = tokenizer(context, **read).input_ids if context else []
    own = tokenizer(f" {secret}" if context else secret, **read).input_ids
    ids = [first, *before, *own]
    if len(ids) > public.context:
        raise InputError(f"The text has {len(ids):,} tokens; the model reads at most {public.context:,}.")
    return ids, len(ids) - len(own)
