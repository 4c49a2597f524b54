"""From a corpus to a model trained by CADP, or by one of the trainings that it is compared with."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.adapter_learner import AdapterLearner
from core.context.cadp.card import CadpCard, Model, Recall
from core.context.cadp.flags import Flagger, Mechanism
from core.context.cadp.lstm_learner import LstmLearner, LstmLM
from core.context.cadp.plan import CadpProgress, CadpSettings, Point
from core.context.cadp.records import Encode, Records, read_records
from core.context.cadp.small_vocabulary import SmallVocabulary
from core.context.cadp.training import CadpTraining
from core.corpus.documents import Corpus
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape

NAME = "cadp"
LSTM_SETTINGS: dict[str, Any] = {"learning_rate": 8e-3}


@dataclass(frozen=True)
class Recipe:
    """Which model is trained, by which mechanism and how; the LSTM has a vocabulary, adapters a shape."""

    mechanism: Mechanism = "cadp"
    model: Model = "adapters"
    settings: CadpSettings = field(default_factory=CadpSettings)
    shape: LoraShape = field(default_factory=LoraShape)
    vocabulary: int = 4096

    @staticmethod
    def of(
        mechanism: Mechanism = "cadp",
        model: Model = "adapters",
        *,
        shape: LoraShape | None = None,
        **settings: Any,
    ) -> "Recipe":
        """A recipe with the learning rate that suits the model, where `settings` do not say otherwise."""
        usual = {} if model == "adapters" else LSTM_SETTINGS
        return Recipe(mechanism, model, CadpSettings(**(usual | settings)), shape or LoraShape())


@dataclass(frozen=True)
class TrainedLM:
    """A trained model with its card, its privacy account and the history of its training.

    The history's losses are functions of private text that no noise covers: they are for the curator.
    """

    model: AdapterStack | LstmLM
    recipe: Recipe
    corpus: str
    synthetic: bool
    card: CadpCard
    account: PrivacyAccount
    history: tuple[Point, ...]


def train_cadp(
    corpus: Corpus,
    public: PublicModel,
    recipe: Recipe,
    flagger: Flagger,
    *,
    recall: Recall | None = None,
    checkpoints: Path | None = None,
    progress: Callable[[CadpProgress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> TrainedLM:
    """Cut the corpus into sequences, flag them, and train. `recall` is the detector's, for the card.

    With `checkpoints`, a second call goes on from where a first one was stopped; what is kept there is
    private material, to be deleted afterwards.
    """
    settings = recipe.settings
    vocabulary = SmallVocabulary.cut(public, recipe.vocabulary) if recipe.model == "lstm" else None
    records = _read(corpus, public, vocabulary, settings.length)
    flags = flagger.flags(records.texts)
    before = len(records)
    if settings.merge_copies:
        records, flags = merge_flagged_copies(records, flags)
    learner: AdapterLearner | LstmLearner
    if vocabulary is None:
        learner = AdapterLearner(public, records, recipe.shape, length=settings.length, name=NAME)
    else:
        learner = LstmLearner(records, vocabulary, length=settings.length)
    trained = CadpTraining(
        learner, flags, settings, mechanism=recipe.mechanism, progress=progress, cancelled=cancelled
    ).run(checkpoints)
    card = CadpCard(
        mechanism=recipe.mechanism,
        model=recipe.model,
        flags=flagger.name,
        epsilon=trained.account.epsilon(settings.delta) if trained.plan.private else math.inf,
        delta=settings.delta,
        noise=trained.plan.noise,
        clip=settings.clip,
        rate=trained.plan.rate,
        steps=trained.plan.steps,
        sequences=len(records),
        flagged=sum(flags),
        merged=before - len(records),
        length=settings.length,
        optimizer=f"{settings.optimizer}, updates {settings.updates}",
        secure=settings.seed is None,
        recall=recall,
    )
    return TrainedLM(
        learner.trained(), recipe, corpus.name, corpus.synthetic, card, trained.account, trained.history
    )


def merge_flagged_copies(records: Records, flags: Sequence[bool]) -> tuple[Records, list[bool]]:
    """Of flagged records with the same tokens, the first alone: its guarantee then covers all of its copies.

    A corpus with one more copy becomes the same records, and one with another record one record more, so that
    the guarantee stands as it was.
    """
    seen: set[tuple[int, ...]] = set()
    kept = []
    for number, flagged in enumerate(flags):
        if flagged and records.tokens[number] in seen:
            continue
        if flagged:
            seen.add(records.tokens[number])
        kept.append(number)
    return records.pick(kept), [flags[number] for number in kept]


def _read(corpus: Corpus, public: PublicModel, vocabulary: SmallVocabulary | None, length: int) -> Records:
    texts = [document.text for document in corpus.documents]
    if vocabulary is not None:
        return read_records(texts, vocabulary.encode, length, vocabulary.separator)
    end = public.model.config.eos_token_id
    return read_records(texts, public_encoder(public), length, int(end[0] if isinstance(end, list) else end))


def public_encoder(public: PublicModel) -> Encode:
    """Texts to tokens of the public model; special tokens that are typed as text stay text."""

    def encode(texts: list[str]) -> list[list[int]]:
        found = public.tokenizer(texts, add_special_tokens=False, split_special_tokens=True).input_ids
        return [list(tokens) for tokens in found]

    return encode
