"""Undoing a sanitised text: which words stood there, as an attacker who knows the mechanism would guess.

The attacker sees the output, knows the mechanism, its epsilon and its public vocabulary, and is told which
words were perturbed and why (the guarantee hides neither). Two of them:

- `nearest` takes the word nearest to what was published, among those that the policy could have touched:
  what was perturbed for its digits had digits.
- `bayes` takes the word of the highest posterior, P(w | o, context) ~ P(w | context) P(o | w), over some
  hundred candidates: the mechanism's law times what the public language model expects after the text as
  guessed so far. Without a language model the prior is flat.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.attack.intervals import clopper_pearson
from core.attack.sanitised.law import law_of
from core.attack.sanitised.word_prior import TextSoFar, spellings
from core.attack.watch import AttackCancelled, Reached, Watch
from core.errors import InputError
from core.lm.public import PublicModel
from core.sanitize.document import Piece, Sanitized
from core.sanitize.mechanism import Mechanism
from core.sanitize.policy import Digits
from core.sanitize.vocabulary import Vocabulary
from core.sanitize.words import has_digit, normal_form

Attacker = Literal["nearest", "bayes"]
ATTACKERS: tuple[Attacker, ...] = ("nearest", "bayes")
SHOWN = 5
_DIGITS = Digits.name  # the reason that the policy gives
_NEAR, _COMMON = 1000, 500  # words near the published one, and common ones, whose likelihood is looked at
_PICKED, _LIKELY = 48, 64  # candidates: picked among those, and asked for by the context
_MARGIN = 7.0  # nats: a spelling that cannot come closer than this to the best is not scored
_SPELLINGS, _MOST_SPELLINGS = 24, 72  # scored in one pass, and in all

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WordGuess:
    """One perturbed word: pieces[piece] was published as `published`, and the attacker says `guess`.

    `others` are the likeliest words with their posterior, the guess first. `right` and `changed` (whether
    the word was published as another one) are known to whoever has the source.
    """

    piece: int
    published: str
    guess: str
    probability: float
    others: tuple[tuple[str, float], ...]
    right: bool
    changed: bool


@dataclass(frozen=True)
class Reconstruction:
    """All guesses; `rate` is the share of perturbed words that were named, `low` to `high` its 95 % interval.

    The interval is Clopper-Pearson's, for words taken as independent. `complete` is False where not all
    perturbed words were attacked; the counts are then of those that were.
    """

    attacker: Attacker
    words: tuple[WordGuess, ...]
    rate: float
    low: float
    high: float
    complete: bool = True

    @property
    def right(self) -> int:
        """Perturbed words that were named."""
        return sum(word.right for word in self.words)

    @property
    def undone(self) -> int:
        """Words that had become other words and were named all the same."""
        return sum(word.right and word.changed for word in self.words)


def reconstruct(
    sanitized: Sanitized,
    mechanism: Mechanism,
    *,
    attacker: Attacker = "bayes",
    public: PublicModel | None = None,
    most: int | None = None,
    rng: np.random.Generator | None = None,
    progress: Callable[[Reached], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Reconstruction:
    """Guess every perturbed word from the output, left to right; the source only marks the guesses.

    With `most`, only the first so many perturbed words are attacked.
    """
    if attacker not in ATTACKERS:
        raise InputError(f"There is no attacker called {attacker!r}; there are {' and '.join(ATTACKERS)}.")
    perturbed = sum(piece.state != "plain" for piece in sanitized.pieces)
    if not perturbed:
        raise InputError("No word of this text was perturbed, so there is nothing to undo.")
    rng = rng or np.random.default_rng(0)
    watch, wanted = Watch(progress, cancelled), min(perturbed, most or perturbed)
    found: list[WordGuess] = []
    guesser = _Guesser(mechanism, attacker, public, rng)
    try:
        for place, piece in enumerate(sanitized.pieces):
            if piece.state == "plain":
                guesser.pass_by(piece.output)
                continue
            if len(found) == wanted:
                break
            watch.at(len(found) / wanted, f"word {len(found) + 1} of {wanted}")
            found.append(_marked(place, piece, guesser.guess(piece.output, piece.reason)))
        watch.at(1.0, "done")
    except AttackCancelled:
        if not found:
            raise
    share = clopper_pearson(sum(word.right for word in found), len(found))
    return Reconstruction(attacker, tuple(found), share.value, share.low, share.high, len(found) == perturbed)


def _marked(place: int, piece: Piece, posterior: Sequence[tuple[str, float]]) -> WordGuess:
    guess, probability = posterior[0]
    truth = normal_form(piece.source)
    return WordGuess(
        place,
        piece.output,
        guess,
        probability,
        tuple(posterior),
        right=normal_form(guess) == truth,
        changed=normal_form(piece.output) != truth,
    )


class _Guesser:
    """The attacker at work: sees outputs only."""

    def __init__(
        self,
        mechanism: Mechanism,
        attacker: Attacker,
        public: PublicModel | None,
        rng: np.random.Generator,
    ) -> None:
        self._mechanism, self._vocabulary = mechanism, mechanism.vocabulary
        self._law = law_of(mechanism, rng) if attacker == "bayes" else None
        self._text = TextSoFar(public) if public is not None and attacker == "bayes" else None

    def pass_by(self, text: str) -> None:
        """Text that was published unchanged."""
        if self._text is not None:
            self._text.append(text)

    def guess(self, published: str, reason: str) -> list[tuple[str, float]]:
        """The words that may have stood here with their posterior, the likeliest first."""
        support = _numbers(self._vocabulary) if _DIGITS in reason.split(", ") else None
        output = self._vocabulary.index.get(published)
        if output is None:
            raise InputError("This text was not sanitised with the vocabulary of this mechanism.")
        near, distances = self._near(output, support)
        if self._law is None:
            return self._ranked(near, -self._mechanism.epsilon * distances)
        pool = np.union1d(near, self._common(support))
        rough = self._law.rough(output, pool)
        if self._text is None:
            picked = pool[np.argsort(-rough, kind="stable")[:_PICKED]]
            return self._ranked(picked, self._law.exact(output, picked))
        # Whom to ask the language model about: likely by a crude prior, for vectors come by frequency.
        picked = pool[np.argsort(np.log(pool + 1.0) - rough, kind="stable")[:_PICKED]]
        candidates = np.union1d(picked, self._likely(self._text, support))
        words = [self._vocabulary.words[at] for at in candidates]
        spelling, posterior = _with_prior(words, self._law.exact(output, candidates), self._text)
        self._text.append(spelling)
        return posterior

    def _near(self, output: int, support: Indices | None) -> tuple[Indices, Floats]:
        """The words nearest to the published one, of those that the policy could have touched."""
        vectors = self._vocabulary.vectors
        if support is None:
            return self._vocabulary.search.ranked(vectors[output], min(_NEAR, len(self._vocabulary)))
        distances = np.linalg.norm(vectors[support] - vectors[output], axis=1).astype(float)
        best = np.argsort(distances, kind="stable")[:_NEAR]
        return support[best], distances[best]

    def _common(self, support: Indices | None) -> Indices:
        every = np.arange(len(self._vocabulary)) if support is None else support
        return every[:_COMMON]

    def _likely(self, text: TextSoFar, support: Indices | None) -> Indices:
        """Words that the context asks for, of those that the policy could have touched."""
        found = (self._vocabulary.look_up(word) for word in text.likely(_LIKELY))
        likely = np.array(sorted({at for at in found if at is not None}), np.int64)
        return likely if support is None else np.intersect1d(likely, support)

    def _ranked(self, candidates: Indices, scores: Floats) -> list[tuple[str, float]]:
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        best = np.argsort(-weights, kind="stable")[:SHOWN]
        return [(self._vocabulary.words[candidates[at]], float(weights[at])) for at in best]


def _with_prior(words: Sequence[str], scores: Floats, text: TextSoFar) -> tuple[str, list[tuple[str, float]]]:
    """The likeliest spelling of the likeliest word, and the posterior over words, best first.

    A spelling is at most as likely as its first token: spellings are scored in the order of that bound, and
    the search ends when no other can come near the best.
    """
    forms = [(place, form) for place, word in enumerate(words) for form in spellings(word)]
    owners = np.array([place for place, _ in forms])
    bounds = scores[owners] + text.bounds([form for _, form in forms])
    order = np.argsort(-bounds, kind="stable")[:_MOST_SPELLINGS]
    totals = np.full(len(forms), -np.inf)
    for start in range(0, len(order), _SPELLINGS):
        batch = order[start : start + _SPELLINGS]
        if bounds[batch[0]] < totals.max() - _MARGIN:
            break
        totals[batch] = scores[owners[batch]] + text.log_probabilities([forms[at][1] for at in batch])
    weights = np.exp(totals - totals.max())
    by_word = np.bincount(owners, weights, minlength=len(words)) / weights.sum()
    best = np.argsort(-by_word, kind="stable")[:SHOWN]
    spelling = np.where(owners == best[0], totals, -np.inf).argmax()
    return forms[spelling][1], [(words[at], float(by_word[at])) for at in best if by_word[at] > 0.0]


@lru_cache(maxsize=2)
def _numbers(vocabulary: Vocabulary) -> Indices | None:
    """The words that the policy `digits` touches, or None where the vocabulary has no such word."""
    found = np.flatnonzero([has_digit(word) for word in vocabulary.words])
    return found if found.size else None
