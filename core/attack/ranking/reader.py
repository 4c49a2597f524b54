"""What an attacker with likelihoods asks of a target: the next-token law along branches of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from core.attack.ranking.branches import Branch, Branches
from core.predict import Decoding
from core.predict import Protocol as PredictionProtocol
from core.privacy.renyi import Floats

LOWEST = -1e9  # the log-probability of what cannot come: finite, so that sums stay comparable


@dataclass(frozen=True, eq=False)
class Place:
    """A place in a text: the law of the next token, as log-probabilities (V,), and how to go on from here."""

    log_law: Floats
    memory: Any


class Reader(Protocol):
    """Reads texts that branch, and counts the model tokens that this takes, prompts included."""

    @property
    def read(self) -> int:
        """Model tokens evaluated so far."""

    def start(self, prompt: Sequence[int]) -> Place:
        """The place after the prompt."""

    def extend(self, memories: Sequence[Any], tokens: Sequence[int]) -> list[Place]:
        """The places after one more token each; the memories come from places of equal length."""


class ModelReader:
    """One model: an adapter, or the public model. Its law is its own softmax at temperature 1."""

    def __init__(self, branches: Branches) -> None:
        self._branches = branches

    @property
    def read(self) -> int:
        """Model tokens evaluated."""
        return self._branches.read

    def start(self, prompt: Sequence[int]) -> Place:
        """The place after the prompt."""
        return self._place(*self._branches.start(prompt))

    def extend(self, memories: Sequence[Any], tokens: Sequence[int]) -> list[Place]:
        """The places after one more token each."""
        return [self._place(*grown) for grown in self._branches.extend(memories, tokens)]

    def _place(self, branch: Branch, logits: Any) -> Place:
        return Place(logits[0].double().log_softmax(dim=-1).numpy(), branch)


class MixtureReader:
    """A protocol over public model and parts, teacher-forced: every place is one query that is paid for.

    The law at a place is the one that the protocol would draw the next token from after exactly these
    tokens, with the budget that they left. So the product along a text is the chance that the protocol,
    from its first state, answers with this text.
    """

    def __init__(self, branches: Branches, protocol: PredictionProtocol, decoding: Decoding) -> None:
        self._branches, self._protocol, self._decoding = branches, protocol, decoding

    @property
    def read(self) -> int:
        """Model tokens evaluated; one pass over all rows counts as one."""
        return self._branches.read

    def start(self, prompt: Sequence[int]) -> Place:
        """The place after the prompt, with the protocol in its first state."""
        return self._place(*self._branches.start(prompt), self._protocol)

    def extend(self, memories: Sequence[Any], tokens: Sequence[int]) -> list[Place]:
        """The places after one more token each."""
        branches, states = zip(*memories, strict=True)
        grown = self._branches.extend(branches, tokens)
        return [self._place(*pair, state) for pair, state in zip(grown, states, strict=True)]

    def _place(self, branch: Branch, logits: Any, state: PredictionProtocol) -> Place:
        after = state.copy()
        return Place(mixture_log_law(after, logits, self._decoding), (branch, after))


def mixture_log_law(protocol: PredictionProtocol, logits: Any, decoding: Decoding) -> Floats:
    """One query to the protocol, which pays for it; the log-law (V,) that it would draw from."""
    decoded = decoding.from_logits(logits)
    pmf = protocol.answer(decoded.query(protocol.shape)).pmf
    log_law = np.full(logits.shape[1], LOWEST)
    with np.errstate(divide="ignore"):
        log_pmf = np.maximum(np.log(pmf), LOWEST)
    log_law[slice(None) if decoded.tokens is None else decoded.tokens] = log_pmf
    return log_law
