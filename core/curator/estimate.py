"""How long a training will take: a few steps on made-up tokens are timed here, and the work is counted."""

from dataclasses import replace
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING

from core.corpus import Corpus

if TYPE_CHECKING:
    from core.ensembles import Plan
    from core.lm.public import PublicModel
    from core.lm.training import TrainingSettings

_SAMPLE = 100  # documents
_STEPS, _BATCH = 3, 2  # the first step lays the weights out and is not counted


def count_tokens(public: "PublicModel", corpus: Corpus) -> int:
    """About how many tokens a corpus has, by a sample of its documents."""
    documents = corpus.documents
    texts = [document.text for document in documents[:: max(1, len(documents) // _SAMPLE)]]
    tokens = public.tokenizer(texts, add_special_tokens=False, split_special_tokens=True).input_ids
    return round(sum(map(len, tokens)) / max(1, sum(map(len, texts))) * corpus.characters)


def expected_seconds(public: "PublicModel", plan: "Plan", tokens: int) -> float:
    """About how long this plan takes on this machine as busy as it is."""
    from core.lm.training import work_of

    training = plan.training
    layers, shared = training.shape.layers, _shared(public, training)
    sequences = -(-tokens // training.length)
    learned = round(sequences * (1.0 - training.validation))
    work = work_of(learned, training.passes, layers, shared)
    if plan.whole_passes:
        work += work_of(sequences, plan.whole_passes, layers, shared)
    trial = replace(training, passes=1, validation=0.0, batch=_BATCH, rows_at_once=1)
    return work * seconds_a_unit(public, trial)


@lru_cache(maxsize=8)
def seconds_a_unit(public: "PublicModel", training: "TrainingSettings") -> float:
    """The time of one unit of work (see `work_of`), from steps on tokens that nobody wrote."""
    from core.lm.finetune import finetune
    from core.lm.training import AdapterData, Progress, work_of

    stamps: list[tuple[float, float]] = []

    def stamp(progress: Progress) -> None:
        stamps.append((monotonic(), progress.share))

    count = _STEPS * training.batch * training.length
    finetune(public, [AdapterData("trial", [[1] * (count - 1)])], training, progress=stamp)
    (before, from_share), (after, to_share) = stamps[-_STEPS], stamps[-1]
    shape = training.shape.layers, _shared(public, training)
    work = work_of(_STEPS * training.batch, 1, *shape) * (to_share - from_share)
    return (after - before) / work


def _shared(public: "PublicModel", training: "TrainingSettings") -> int:
    return max(0, int(public.model.config.num_hidden_layers) - training.shape.layers)
