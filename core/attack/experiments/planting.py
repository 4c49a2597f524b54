"""Planting canaries: what is planted, by coin flips, in a small copy of a corpus."""

import random
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

from core.attack.experiments.private_training import Protection
from core.attack.experiments.trained import Split, quick_training, split_key
from core.attack.ranking.exposure import SMALL, Effort
from core.corpus.canaries import TEMPLATE, WORDS, Canary, CanaryFormat, plant
from core.corpus.documents import Corpus
from core.corpus.partition import partition_corpus
from core.errors import InputError
from core.lm.finetune import TrainingSettings

NAME_MARK = "#"
MOST_CANARIES = len(WORDS)


@dataclass(frozen=True)
class CanaryPlan:
    """What is planted and how it is trained. `#` in the template is another word for every canary."""

    template: str = TEMPLATE
    canaries: int = 16
    copies: int = 8
    among: Literal["one", "spread"] = "one"
    documents: int = 12  # of the corpus, of whole users, that the canaries hide among
    split: Split = field(default_factory=Split)
    training: TrainingSettings = field(default_factory=quick_training)
    targets: tuple[str, ...] = ("whole", "strict")
    temperature: float = 0.5
    effort: Effort = SMALL
    protection: Protection = field(default_factory=Protection)  # of what is trained privately

    def __post_init__(self) -> None:
        if not 4 <= self.canaries <= MOST_CANARIES:
            raise InputError(f"Between 4 and {MOST_CANARIES} canaries can be planted.")
        CanaryFormat(self.template)

    @property
    def forms(self) -> tuple[CanaryFormat, ...]:
        """One format for each canary; they differ in the word only."""
        return tuple(CanaryFormat(self.template.replace(NAME_MARK, word)) for word in WORDS[: self.canaries])


@dataclass(frozen=True)
class Planted:
    """A corpus with canaries in it, and which of them are."""

    corpus: Corpus
    canaries: tuple[Canary, ...]
    included: tuple[bool, ...]


def plant_by_coins(corpus: Corpus, plan: CanaryPlan, seed: int) -> Planted:
    """A small copy of the corpus with about half of the canaries planted; at least one in, and one out."""
    rng = random.Random(f"canaries {seed}")
    canaries = tuple(form.draw(rng) for form in plan.forms)
    included = tuple(rng.random() < 0.5 for _ in canaries)
    while all(included) or not any(included):
        included = tuple(rng.random() < 0.5 for _ in canaries)
    small = _some_users(corpus, plan, rng, seed)
    chosen = [canary for canary, coin in zip(canaries, included, strict=True) if coin]
    return Planted(plant(small, chosen, copies=plan.copies, rng=rng, among=plan.among), canaries, included)


def _some_users(corpus: Corpus, plan: CanaryPlan, rng: random.Random, seed: int) -> Corpus:
    """Whole users until the number of documents is reached and nobody's part is empty; all, if need be."""
    users = list(corpus.users)
    rng.shuffle(users)
    kept: set[str] = set()
    count = 0
    for user in users:
        if count >= plan.documents and _fills(_of_users(corpus, kept), plan.split, seed):
            break
        kept.add(user)
        count += len(corpus.by_user[user])
    return _of_users(corpus, kept)


def _of_users(corpus: Corpus, users: Collection[str]) -> Corpus:
    return replace(corpus, documents=tuple(each for each in corpus.documents if each.user in users))


def _fills(corpus: Corpus, split: Split, seed: int) -> bool:
    """Whether every part (and half) has somebody in it."""
    try:
        partition_corpus(corpus, split.parts, key=split_key(seed), halves=split.halves)
    except InputError:
        return False
    return True
