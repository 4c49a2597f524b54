"""Models that were trained with protection, made quickly for an experiment: their answers need no protocol.

Trained on text in which every word (MDP) or every number (SMDP) was perturbed, by DP-SGD on every sequence,
or by CADP on the sequences that the context detector flags.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.attack.experiments.trained import encode, in_training
from core.attack.targets import ALONE, PRIVATE_TRAININGS, Subject, Target
from core.attack.watch import SILENT, AttackCancelled, Watch
from core.context.cadp.flags import Mechanism
from core.corpus.documents import Corpus
from core.errors import InputError
from core.lm.finetune import AdapterData, Progress, TrainingCancelled, TrainingSettings, finetune
from core.lm.manifest import Manifest
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack
from core.settings import Settings

SANITISED = ("mdp", "smdp")
BY_GRADIENT: tuple[Mechanism, ...] = ("cadp", "dp-sgd")
_NAMES = {"mdp": "MDP text", "smdp": "SMDP text", "cadp": "CADP", "dp-sgd": "DP-SGD"}


@dataclass(frozen=True)
class Protection:
    """The epsilons: for each word of sanitised text, and with `delta` for each protected sequence."""

    word_epsilon: float = 12.0
    epsilon: float = 8.0
    delta: float = 1e-5


def title_of(kind: str, protection: Protection) -> str:
    """The target as a report names it."""
    if kind not in PRIVATE_TRAININGS:
        raise InputError(f"A private training is one of {', '.join(PRIVATE_TRAININGS)} (it is {kind!r}).")
    if kind in SANITISED:
        return f"a model trained on {_NAMES[kind]} at word epsilon {protection.word_epsilon:g}"
    return f"a model trained by {_NAMES[kind]} at epsilon {protection.epsilon:g}"


def train_privately(
    kind: str,
    corpus: Corpus,
    public: PublicModel,
    training: TrainingSettings,
    *,
    settings: Settings,
    protection: Protection | None = None,
    watch: Watch = SILENT,
) -> tuple[Subject, Target]:
    """One adapter on the whole corpus by this training, in memory only."""
    protection = protection or Protection()
    title = title_of(kind, protection)
    watch.at(0.0, f"preparing what {title} reads")
    try:
        if kind in SANITISED:
            stack = _on_sanitised(kind, corpus, public, training, protection, settings, watch)
        else:
            mechanism: Mechanism = "cadp" if kind == "cadp" else "dp-sgd"
            stack = _by_gradient(mechanism, corpus, public, training, protection, settings, watch)
    except TrainingCancelled as error:
        raise AttackCancelled from error
    manifest = Manifest(
        base_model=public.name,
        base_digest=public.digest,
        synthetic=corpus.synthetic,
        partition={"corpus": corpus.name},
        training={"method": title},
        adapters=dict.fromkeys(stack.names, ""),
    )
    return Subject(corpus.name, public, stack, manifest), Target(ALONE, title)


def sanitised_texts(kind: str, texts: Sequence[str], epsilon: float, settings: Settings) -> list[str]:
    """The texts as their owner would hand them on: every word perturbed, or every number."""
    from core.sanitize import AllWords, Digits, sanitize
    from core.sanitizing import Sanitizer

    mechanism = Sanitizer(settings).mechanism("euclidean", epsilon)
    policy = AllWords() if kind == "mdp" else Digits()
    return [sanitize(text, mechanism, policy).text for text in texts]


def _on_sanitised(
    kind: str,
    corpus: Corpus,
    public: PublicModel,
    training: TrainingSettings,
    protection: Protection,
    settings: Settings,
    watch: Watch,
) -> AdapterStack:
    texts = [document.text for document in corpus.documents]
    data = [
        AdapterData(kind, encode(public, sanitised_texts(kind, texts, protection.word_epsilon, settings)))
    ]

    def reached(progress: Progress) -> None:
        watch.at(0.1 + 0.9 * progress.share, in_training(f"training on {_NAMES[kind]}", progress))

    return finetune(public, data, training, progress=reached, cancelled=watch.cancelled).stack


def _by_gradient(
    mechanism: Mechanism,
    corpus: Corpus,
    public: PublicModel,
    training: TrainingSettings,
    protection: Protection,
    settings: Settings,
    watch: Watch,
) -> AdapterStack:
    from core.context.cadp.flags import flagger_for
    from core.context.cadp.model import Recipe, train_cadp
    from core.context.detector import Detector

    flagger = flagger_for(mechanism, Detector.load(settings) if mechanism == "cadp" else None)
    recipe = Recipe.of(
        mechanism,
        shape=replace(training.shape),
        passes=float(training.passes),
        length=training.length,
        epsilon=protection.epsilon,
        delta=protection.delta,
    )
    trained = train_cadp(
        corpus,
        public,
        recipe,
        flagger,
        progress=lambda now: watch.at(now.share, f"training by {_NAMES[mechanism]}, step {now.step}"),
        cancelled=watch.cancelled,
    )
    assert isinstance(trained.model, AdapterStack), "the recipe asks for an adapter"
    return trained.model
