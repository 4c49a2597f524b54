"""Small corpora and subjects for the attacks' tests: a tiny real model that memorised short notes."""

import random
from functools import cache
from typing import Any

from core.attack.experiments.trained import Split, train_subject
from core.attack.targets import Subject
from core.corpus.documents import Corpus, Document
from core.lm.finetune import TrainingSettings
from core.lm.public import PublicModel
from core.lm.stack import LoraShape
from tests.core.attack.tiny import digit_tokenizer

WORDS = ["the", "night", "nurse", "wrote", "that", "a", "patient", "slept", "well", "soup", "tea", "bread"]
TOKENS = 11  # of every note; with the separator a note fills a training sequence
MEMORISING = TrainingSettings(
    shape=LoraShape(layers=2, rank=8, alpha=16.0),
    passes=40,
    batch=4,
    length=TOKENS + 1,
    learning_rate=1e-2,
    validation=0.0,
)


@cache
def _tokenizer() -> Any:
    return digit_tokenizer()


def notes(count: int, seed: int) -> list[str]:
    """Different texts of one kind and length; two seeds give two samples of the same distribution."""
    rng = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        text = f"{' '.join(rng.choices(WORDS, k=3))} {rng.randrange(10**4):04d}."
        if len(_tokenizer()(text).input_ids) == TOKENS and text not in found:
            found.append(text)
    return found


def corpus_of(texts: list[str], synthetic: bool = True) -> Corpus:
    """A user for each text."""
    documents = tuple(Document(f"user-{number}", text, "notes", number) for number, text in enumerate(texts))
    return Corpus("notes", documents, synthetic=synthetic)


def memorised(public: PublicModel, texts: list[str]) -> Subject:
    """Two parts and the whole, trained until they know the texts."""
    return train_subject(corpus_of(texts), public, Split(parts=2, queries=64), MEMORISING, seed=1)
