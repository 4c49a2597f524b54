"""Teaching a detector with a few sentences of one's own: the head is trained again in seconds.

The hidden units stay; the logistic unit is fitted again on those of many shipped training sentences, which
lie beside the head, and of the taught ones. What is taught weighs more and more until it is learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.context.detector import Detector
from core.context.head import Floats, Head
from core.context.learning.lesson import MOST
from core.context.scorer import HeadScorer
from core.errors import InputError, ModelUnavailable

FEATURES = "training.safetensors"
_LONGEST = 2_000
_WEIGHTS = (5.0, 20.0, 80.0, 320.0)
_PULL = 1.0  # how strongly the unit is held to the shipped one


@dataclass(frozen=True)
class Taught:
    """The new detector, and the sentences that it still judges otherwise."""

    detector: Detector
    not_learned: tuple[str, ...]


def teach(detector: Detector, sensitive: Sequence[str], harmless: Sequence[str]) -> Taught:
    """A detector that also knows these sentences; the given one is not changed."""
    if not isinstance(detector.scorer, HeadScorer):
        raise InputError(
            "Only a detector with a head can be taught; a fine-tuned classifier is trained again."
        )
    texts = [*_checked(sensitive), *_checked(harmless)]
    labels = np.array([1.0] * len(list(_checked(sensitive))) + [0.0] * len(list(_checked(harmless))))
    _check_examples(texts, labels)
    scorer = detector.scorer
    own = scorer.reader.features(texts, [""] * len(texts)).astype(np.float64)
    base = load_features(scorer.assets)
    head = scorer.head
    for weight in _WEIGHTS:
        head = _refit(scorer.head, base, own, labels, weight)
        scores = replace(scorer, head=head).scores(texts, [""] * len(texts))
        right = (scores >= detector.threshold) == (labels > 0.5)
        if right.all():
            break
    about = replace(
        head.about,
        taught=(
            head.about.taught[0] + int(labels.sum()),
            head.about.taught[1] + int((1 - labels).sum()),
        ),
    )
    taught = replace(scorer, head=replace(head, about=about))
    missed = tuple(text for text, learned in zip(texts, right, strict=True) if not learned)
    return Taught(replace(detector, name=f"{detector.name}, taught", scorer=taught), missed)


def _checked(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))


def _check_examples(texts: list[str], labels: Floats) -> None:
    if not texts:
        raise InputError("There is nothing to learn from: give at least one sentence.")
    if len(texts) > MOST:
        raise InputError(f"{len(texts):,} sentences are too many to teach at once; at most {MOST} are taken.")
    if any(len(text) > _LONGEST for text in texts):
        raise InputError(f"A sentence may have {_LONGEST:,} characters at most; split longer ones.")
    if len(set(texts)) < len(texts):
        raise InputError("The same sentence is given as sensitive and as harmless.")


def _refit(head: Head, base: NDArray[np.float32], own: Floats, labels: Floats, weight: float) -> Head:
    """The unit that minimises the weighted cross-entropy plus a pull to the given head's weights.

    On its training sentences it is held to what the head says of them now, not to their labels: with nothing
    to learn the head stays as it is.
    """
    from scipy.optimize import minimize

    features = np.concatenate([base.astype(np.float64), own])
    wanted = np.concatenate([head.probabilities(base), labels])
    weights = np.concatenate([np.ones(len(base)), np.full(len(labels), weight)])
    start = np.append(head.weights, head.bias)

    def loss(unit: Floats) -> tuple[float, Floats]:
        logits = features @ unit[:-1] + unit[-1]
        away = unit - start
        value = float(weights @ (np.logaddexp(0.0, logits) - wanted * logits) + 0.5 * _PULL * away @ away)
        error = weights * (1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0))) - wanted)
        return value, np.append(features.T @ error, error.sum()) + _PULL * away

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return replace(head, weights=found[:-1], bias=float(found[-1]))


def save_features(folder: Path, features: NDArray[np.float32]) -> None:
    """Write the features of some training sentences beside the head, in half precision."""
    from safetensors.numpy import save_file

    save_file({"features": features.astype(np.float16)}, folder / FEATURES)


def load_features(folder: Path) -> NDArray[np.float32]:
    """What `save_features` wrote: (n, H)."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(folder / FEATURES)
    except (OSError, SafetensorError) as error:
        raise ModelUnavailable(f"The training features in {folder} cannot be read: {error}.") from error
    return found["features"].astype(np.float32)
