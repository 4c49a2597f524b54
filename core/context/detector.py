"""The detector: which sentences of a text give or ask for a secret, by their context and not by format."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from core.context.sentences import split
from core.errors import InputError
from core.settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from core.context.nearest import NearFamily

SHIPPED = "shipped"


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text: text[start:end], its score in [0, 1], and whether it is flagged.

    text[window_start:end] is the window that was read: the sentence and the one before it.
    """

    text: str
    start: int
    end: int
    score: float
    flagged: bool
    window_start: int


@dataclass(frozen=True)
class Span:
    """A stretch of characters, text[start:end]."""

    start: int
    end: int


class Scorer(Protocol):
    """What gives a sentence its score, given the sentence before it (empty where there is none)."""

    def scores(self, sentences: Sequence[str], contexts: Sequence[str]) -> "np.ndarray":
        """One probability for each sentence: (n,)."""

    def nearest(self, sentence: str, n: int) -> "tuple[NearFamily, ...]":
        """The families of training sentences that lie nearest."""


@dataclass(frozen=True)
class Detector:
    """A scorer with the threshold from which a sentence is flagged. Make one with `load_detector`."""

    name: str
    scorer: Scorer
    threshold: float

    @staticmethod
    def load(settings: Settings, name: str = SHIPPED) -> "Detector":
        """The shipped detector, one saved by `save`, or a fine-tuned classifier in a folder."""
        from core.context.saved import load_detector

        return load_detector(name, settings)

    def score(self, sentences: Sequence[str], contexts: Sequence[str] | None = None) -> "np.ndarray":
        """The probability that each sentence gives or asks for a secret: (n,), in the given order.

        `contexts` are the sentences before them; without it each stands alone. Equal sentences are read
        once, and the embeddings of recent ones are kept.
        """
        if contexts is not None and len(contexts) != len(sentences):
            raise InputError(f"There are {len(sentences)} sentences and {len(contexts)} contexts.")
        return self.scorer.scores(sentences, contexts or [""] * len(sentences))

    def detect(self, text: str) -> tuple[Sentence, ...]:
        """Every sentence of a text with its score, each read together with the one before it."""
        pieces = split(text)
        read = [text[piece.read_from : piece.end] for piece in pieces]
        before = ["", *read[:-1]] if read else []
        scores = self.score(read, before)
        starts = [pieces[max(0, index - 1)].read_from for index in range(len(pieces))]
        return tuple(
            Sentence(
                text[piece.start : piece.end],
                piece.start,
                piece.end,
                float(score),
                bool(score >= self.threshold),
                start,
            )
            for piece, score, start in zip(pieces, scores, starts, strict=True)
        )

    def flag(self, text: str) -> list[Span]:
        """The flagged stretches of a text in order; neighbours that only white space parts are joined."""
        spans: list[Span] = []
        for sentence in self.detect(text):
            if not sentence.flagged:
                continue
            if spans and not text[spans[-1].end : sentence.start].strip():
                spans[-1] = Span(spans[-1].start, sentence.end)
            else:
                spans.append(Span(sentence.start, sentence.end))
        return spans

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """The highest score among the sentences of each text, 0 for an empty one: (n,)."""
        import numpy as np

        sentences, contexts, owners = [], [], []
        for owner, text in enumerate(texts):
            before = ""
            for piece in split(text):
                sentence = text[piece.read_from : piece.end]
                sentences.append(sentence)
                contexts.append(before)
                owners.append(owner)
                before = sentence
        highest = np.zeros(len(texts))
        np.maximum.at(highest, np.array(owners, dtype=np.intp), self.score(sentences, contexts))
        return highest

    def nearest_families(self, sentence: str, n: int = 3) -> "tuple[NearFamily, ...]":
        """The training families whose sentences lie nearest, best first."""
        return self.scorer.nearest(sentence, n)

    def at(self, threshold: float) -> "Detector":
        """The same detector with another threshold."""
        if not 0.0 <= threshold <= 1.0:
            raise InputError("A threshold lies between 0 and 1.")
        return replace(self, threshold=threshold)
