"""Two attackers, kept apart by type.

`TokensOnly` stands outside: a prompt goes in, sampled tokens come out, each of them paid for from a budget
that was opened for the attack in a ledger of its own; the corpus' ledger is not touched. `WithLikelihoods`
is the curator: the next-token law can be read at every place. A function that takes one of them cannot be
handed the other.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.attack.audits.scratch_ledger import scratch_ledger
from core.attack.ranking.branches import Branches
from core.attack.ranking.reader import MixtureReader, ModelReader, Reader, mixture_log_law
from core.attack.ranking.remembered import RememberingDecoder
from core.attack.targets import ALONE, PUBLIC, WHOLE, Subject, Target
from core.lm.ensemble import Ensemble
from core.predict import Decoding, Protocol
from core.predict.account import Account
from core.predict.generate import Accounted, Released, stream_private, stream_public, stream_unprotected
from core.predict.terms import protocol_under
from core.privacy.renyi import Floats
from core.settings import Settings
from core.store import Ledger

_CORPUS = "attacked"
_POSITIONS_AT_ONCE = 16
LOWEST_TEXT = -100.0  # a token that cannot come counts as this unlikely, so that sums stay finite


@dataclass(frozen=True, eq=False)
class TextReading:
    """What a target thinks of a text, token by token; `mean` and `spread` are of log p under its own law."""

    log_p: Floats
    public_log_p: Floats
    mean: Floats
    spread: Floats


class TokensOnly:
    """The attacker outside. `used` counts the queries paid for, `problem` says why an answer was public."""

    def __init__(
        self,
        subject: Subject,
        target: Target,
        decoding: Decoding,
        limits: Settings,
        decoder: RememberingDecoder | None = None,
    ) -> None:
        self.target, self.decoding = target, decoding
        self.used, self.problem = 0, ""
        self._subject, self._limits = subject, limits
        self._decoder = decoder or RememberingDecoder(subject.public, subject.rows(target))
        self._account: Account | None = None

    def answer(self, prompt: str, *, length: int, enough: Callable[[str], bool] | None = None) -> str:
        """The answer to a prompt. `enough` may end the answer of a target that keeps no budget."""
        text = ""
        for token in self._stream(prompt, length):
            text += token.text
            if enough is not None and not self.target.protected and enough(text):
                break
        return text

    def count_tokens(self, prompt: str, secret: str) -> int:
        """How many tokens the tokenizer needs for the secret behind the prompt."""
        tokenizer = self._subject.public.tokenizer
        both, first = (
            tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids
            for text in (prompt + secret, prompt)
        )
        return max(1, len(both) - len(first))

    def _stream(self, prompt: str, length: int) -> Generator[Released, None, None]:
        public, decoding = self._subject.public, self.decoding
        asked: dict[str, Any] = {"length": length, "limits": self._limits}
        if self.target.kind == PUBLIC:
            return stream_public(public, prompt, decoding, decoder=self._decoder, **asked)
        if self.target.kind in (WHOLE, ALONE):
            return stream_unprotected(public, self._decoder, prompt, decoding, **asked)
        assert self._account is not None, "a target over parts is opened with `tokens_only`"
        return self._paid(stream_private(public, self._decoder, self._account, prompt, decoding, **asked))

    def _paid(self, stream: Iterator[Accounted]) -> Generator[Released, None, None]:
        for accounted in stream:
            self.used = max(self.used, accounted.drawn.used)
            self.problem = accounted.drawn.problem or self.problem
            yield accounted.released

    def _open(self, ledger: Ledger) -> None:
        if self.target.terms is not None:
            ledger.open_budget(_CORPUS, **asdict(self.target.terms))
            self._account = Account(_CORPUS, protocol_under(self.target.terms), ledger)


@contextmanager
def tokens_only(
    subject: Subject,
    target: Target,
    *,
    limits: Settings,
    decoding: Decoding | None = None,
    decoder: RememberingDecoder | None = None,
) -> Iterator[TokensOnly]:
    """An attacker outside, with a fresh budget on the target's terms, in a ledger that ends with it.

    A `decoder` that other attackers over the same adapters have used knows what they have read.
    """
    attacker = TokensOnly(subject, target, decoding or Decoding(), limits, decoder)
    with scratch_ledger() as ledger:
        attacker._open(ledger)
        yield attacker


class WithLikelihoods:
    """The curator's attacker: reads the next-token law of a target at every place of a text."""

    def __init__(self, subject: Subject, target: Target, decoding: Decoding | None = None) -> None:
        self.target, self.subject = target, subject
        self._decoding = decoding or Decoding()

    @cached_property
    def _branches(self) -> Branches:
        """The public row only where it is read: beside parts, or alone."""
        alone = self.target.kind in (WHOLE, ALONE)
        return Branches(self.subject.public, self.subject.rows(self.target), public_row=not alone)

    @cached_property
    def _ensemble(self) -> Ensemble:
        return Ensemble(self.subject.public, self.subject.rows(self.target))

    @property
    def separator(self) -> int:
        """The token that stands between documents in training: the model's end of text."""
        token = self.subject.public.model.config.eos_token_id
        return int(token[0] if isinstance(token, list) else token)

    def reader(self) -> Reader:
        """A reader whose law is the target's; a target over parts begins with a whole budget."""
        if self.target.terms is None:
            return ModelReader(self._branches)
        return MixtureReader(self._branches, protocol_under(self.target.terms), self._decoding)

    @property
    def meaning(self) -> str:
        """What these likelihoods are, in a sentence."""
        if self.target.terms is None:
            return f"Likelihoods of {self.target.title} are the model's own."
        return (
            f"Likelihoods of {self.target.words} are those of the private mixture: each text is read token "
            "by token under the protocol, every token is paid for, and every text starts with a whole budget."
        )

    def read(self, tokens: Sequence[int]) -> TextReading:
        """A whole text in one pass: every token's log-likelihood, and that of the public model beside it."""
        ensemble = self._ensemble
        states = ensemble.states(tokens)[:, :-1]  # (rows, T - 1, H)
        protocol = None if self.target.terms is None else protocol_under(self.target.terms)
        columns = []
        for start in range(0, states.shape[1], _POSITIONS_AT_ONCE):
            logits = ensemble.logits(states[:, start : start + _POSITIONS_AT_ONCE])  # (rows, t, V)
            for offset in range(logits.shape[1]):
                columns.append(self._measure(logits[:, offset], tokens[start + offset + 1], protocol))
        return TextReading(*np.array(columns).T)

    def _measure(
        self, logits: Any, token: int, protocol: Protocol | None
    ) -> tuple[float, float, float, float]:
        public = float(logits[0].double().log_softmax(dim=-1)[token])
        if protocol is None:
            log_law = logits[-1].double().log_softmax(dim=-1).numpy()
        else:
            log_law = mixture_log_law(protocol, logits, self._decoding)
        law = np.exp(log_law)
        mean = float((law * log_law).sum())
        spread = float(np.sqrt(max((law * (log_law - mean) ** 2).sum(), 0.0)))
        return max(float(log_law[token]), LOWEST_TEXT), max(public, LOWEST_TEXT), mean, spread
