"""Adapters that are trained for an experiment and live in memory only."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from core.attack.targets import WHOLE, Subject
from core.attack.watch import SILENT, AttackCancelled, Watch
from core.corpus.documents import Corpus
from core.corpus.partition import partition_corpus
from core.lm.finetune import AdapterData, Progress, TrainingCancelled, TrainingSettings, finetune
from core.lm.manifest import Manifest
from core.lm.public import PublicModel
from core.lm.stack import LoraShape


def quick_training(passes: int = 8, length: int = 48) -> TrainingSettings:
    """Few layers, short sequences, a step for each of them: enough to memorise, in seconds."""
    shape = LoraShape(layers=4, rank=8, alpha=16.0)
    return TrainingSettings(
        shape=shape, passes=passes, batch=1, length=length, learning_rate=5e-3, validation=0.0
    )


@dataclass(frozen=True)
class Split:
    """How an experiment's corpus is answered from: parts, halves, and the terms of its budget."""

    parts: int = 4
    halves: bool = False
    epsilon: float = 2.0
    alpha: float = 2.0
    queries: int = 1024
    w_max: float = 0.5

    @property
    def models(self) -> int:
        """The adapters of the parts."""
        return self.parts * (2 if self.halves else 1)

    def trained(self, training: TrainingSettings) -> TrainingSettings:
        """Parts together and the whole by itself: it is several times as long, and no part waits for it."""
        return replace(training, rows_at_once=self.models)


def train_subject(
    corpus: Corpus,
    public: PublicModel,
    split: Split,
    training: TrainingSettings,
    *,
    seed: int,
    whole: bool = True,
    watch: Watch = SILENT,
) -> Subject:
    """One adapter for each part (or half) and one on everything; nothing is written to disk."""
    data = lessons(corpus, public, split, seed=seed, whole=whole)
    training = split.trained(training)
    return memorise(corpus.name, public, data, split, training, synthetic=corpus.synthetic, watch=watch)


def lessons(
    corpus: Corpus, public: PublicModel, split: Split, *, seed: int, whole: bool = True
) -> list[AdapterData]:
    """What each of these adapters learns from."""
    partition = partition_corpus(corpus, split.parts, key=split_key(seed), halves=split.halves)
    data = []
    for part in range(split.parts):
        for half in (0, 1) if split.halves else (None,):
            texts = [document.text for document in partition.documents(part, half)]
            name = f"part-{part + 1:02d}" + ("" if half is None else "ab"[half])
            data.append(AdapterData(name, encode(public, texts)))
    if whole:
        data.append(AdapterData(WHOLE, encode(public, [document.text for document in corpus.documents])))
    return data


def memorise(
    name: str,
    public: PublicModel,
    data: Sequence[AdapterData],
    split: Split,
    training: TrainingSettings,
    *,
    synthetic: bool,
    watch: Watch = SILENT,
) -> Subject:
    """Train these adapters and hand them over with the manifest that their ensemble would have on disk."""

    def reached(progress: Progress) -> None:
        watch.at(progress.share, in_training(f"training {len(data)} adapters", progress))

    try:
        stack = finetune(public, data, training, progress=reached, cancelled=watch.cancelled).stack
    except TrainingCancelled as error:
        raise AttackCancelled from error
    manifest = Manifest(
        base_model=public.name,
        base_digest=public.digest,
        synthetic=synthetic,
        partition={"corpus": name, "k": split.parts, "halves": split.halves},
        training=asdict(training),
        budget={
            "epsilon": split.epsilon,
            "alpha": split.alpha,
            "queries": split.queries,
            "protocol": "strict",
            "w_max": split.w_max,
        },
        adapters=dict.fromkeys(stack.names, ""),
    )
    return Subject(name, public, stack, manifest)


def in_training(what: str, progress: Progress) -> str:
    """What a training does now: the layers below read all of it before there is a loss."""
    return "reading the texts" if math.isnan(progress.loss) else f"{what}, loss {progress.loss:.2f}"


def split_key(seed: int) -> bytes:
    """The key of the users' places: from the experiment's seed, for this copy of the corpus is thrown away
    and nobody's place in it has to stay secret.
    """
    return hashlib.sha256(f"attack {seed}".encode()).digest()


def encode(public: PublicModel, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text."""
    encoded = public.tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True).input_ids
    return [list(tokens) for tokens in encoded if tokens]
