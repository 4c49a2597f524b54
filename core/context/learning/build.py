"""Building a detector's head from families: cross-validation for the threshold, then one training on all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.context.card import Result
from core.context.evaluate import result
from core.context.head import About, Both, Floats, Head, sigmoid
from core.context.learning.families import Example, Family
from core.context.learning.paraphrase import Paraphraser
from core.context.learning.train import Fitted, TrainingPlan, fit
from core.context.learning.widen import targets
from core.context.network import Network
from core.errors import InputError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from core.context.second import SecondLook

FOLDS = 5
# Of the harmless sentences in cross-validation, the threshold lets through no more than this share.
FALSE_POSITIVES = 0.05
_PULL = 0.01  # how strongly the calibration is held to none
# Beyond these shares the encoder is left alone. On calibrating families 1 % asks twice as often as 2.5 %
# does and finds 0.4 points more; the second look takes seven times as long as the first.
_HARDLY_EVER = 0.025
Said = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Built:
    """A head, and how it did on families that each fold had not seen: logits of these, and the result."""

    head: Head
    cross_validated: Result
    examples: tuple[Example, ...]
    logits: Floats


def train_head(
    families: Sequence[Family],
    encoder: "SentenceTransformer",
    *,
    encoder_name: str,
    plan: TrainingPlan | None = None,
    folds: int = FOLDS,
    paraphraser: Paraphraser | None = None,
    said: Said | None = None,
) -> Built:
    """Train on the families; scores are calibrated and the threshold is chosen on folds of whole families."""
    plan, said = plan or TrainingPlan(), said or (lambda _: None)
    if not 2 <= folds <= len(families):
        raise InputError(f"The folds must be between 2 and the number of families, {len(families)}.")
    network = Network(encoder, plan.layers)
    examples, scores = _out_of_fold(families, network, plan, folds, paraphraser, said)
    sensitive = np.array([example.sensitive for example in examples])
    slope, shift = calibration(scores, sensitive)
    logits = slope * scores + shift
    calibrated = sigmoid(logits)
    threshold = choose_threshold(calibrated, sensitive)
    said(f"training on all {len(families)} families")
    fitted = _fit(families, network, plan, paraphraser)
    about = About(
        encoder=encoder_name,
        layers=plan.layers,
        families=len(families),
        sentences=sum(len(family.lines) for family in families),
        seed=plan.seed,
    )
    head = Head(
        hidden=fitted.hidden,
        offsets=fitted.offsets,
        weights=slope * fitted.weights,
        bias=slope * fitted.bias + shift,
        threshold=threshold,
        about=about,
    )
    found = result("cross-validation", threshold, examples, calibrated)
    return Built(head, found, tuple(examples), logits)


def join(built: Built, second: "SecondLook", families: Sequence[Family]) -> Built:
    """The same with a second look: how both logits make one, when it is asked, and the new threshold.

    All of it from families that neither reader had seen. The second look is asked between the limits beyond
    which the encoder alone is hardly ever wrong.
    """
    kept = {family.name for family in families if family.calibrates}
    rows = [row for row, each in enumerate(built.examples) if each.family in kept]
    examples = [built.examples[row] for row in rows]
    first, sensitive = built.logits[rows], np.array([each.sensitive for each in examples])
    looked = second.logits([(each.text, each.before) for each in examples])
    both = Both(
        float(np.quantile(first[sensitive], _HARDLY_EVER)),
        float(np.quantile(first[~sensitive], 1.0 - _HARDLY_EVER)),
        *_mixture(first, looked, sensitive),
    )
    scores = sigmoid(np.where(both.asked(first), both.logits(first, looked), first))
    threshold = choose_threshold(scores, sensitive)
    head = replace(built.head, threshold=threshold, both=both)
    return replace(built, head=head, cross_validated=result("cross-validation", threshold, examples, scores))


def _mixture(first: Floats, second: Floats, sensitive: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Logistic regression on two logits, both classes weighing the same: two slopes and a shift."""
    from scipy.optimize import minimize

    wanted = sensitive.astype(np.float64)
    weight = np.where(sensitive, 0.5 / wanted.mean(), 0.5 / (1 - wanted.mean()))
    columns = np.stack([first, second, np.ones_like(first)], 1)

    def loss(three: Floats) -> float:
        moved = columns @ three
        return float(weight @ (np.logaddexp(0.0, moved) - wanted * moved) + _PULL * three @ three)

    a, b, c = minimize(loss, np.array([0.5, 0.5, 0.0]), method="Nelder-Mead").x
    return float(a), float(b), float(c)


def _fit(
    families: Sequence[Family], network: Network, plan: TrainingPlan, paraphraser: Paraphraser | None
) -> Fitted:
    widened = targets(families, fillings=plan.fillings, seed=plan.seed, paraphraser=paraphraser)
    states = network.read([each.text for each in widened], [each.before for each in widened])
    return fit(states, np.array([each.probability for each in widened]), plan)


def _out_of_fold(
    families: Sequence[Family],
    network: Network,
    plan: TrainingPlan,
    folds: int,
    paraphraser: Paraphraser | None,
    said: Said,
) -> tuple[list[Example], Floats]:
    """Every sentence with the logit of a model that saw no sentence of its family."""
    examples: list[Example] = []
    scores: list[Floats] = []
    place = np.random.default_rng(plan.seed).permutation(len(families)) % folds
    for fold in range(folds):
        said(f"fold {fold + 1} of {folds}")
        others = [family for family, at in zip(families, place, strict=True) if at != fold]
        fitted = _fit(others, network, plan, paraphraser)
        own = [
            each
            for family, at in zip(families, place, strict=True)
            if at == fold
            for each in family.examples()
        ]
        examples += own
        scores.append(fitted.logits(network.read([each.text for each in own], [each.before for each in own])))
    return examples, np.concatenate(scores)


def calibration(scores: Floats, sensitive: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's slope and shift: sigma(slope * logit + shift) fits best, both classes weighing the same."""
    from scipy.optimize import minimize

    wanted = sensitive.astype(np.float64)
    weight = np.where(sensitive, 0.5 / wanted.mean(), 0.5 / (1 - wanted.mean()))

    def loss(pair: Floats) -> float:
        moved = pair[0] * scores + pair[1]
        kept = _PULL * ((pair[0] - 1.0) ** 2 + pair[1] ** 2)  # finite where the two classes lie apart
        return float(weight @ (np.logaddexp(0.0, moved) - wanted * moved) + kept)

    slope, shift = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return max(float(slope), 1e-3), float(shift)


def choose_threshold(scores: Floats, sensitive: NDArray[np.bool_], most: float = FALSE_POSITIVES) -> float:
    """The lowest threshold that flags at most the given share of the harmless sentences."""
    harmless = np.sort(scores[~sensitive])[::-1]
    allowed = int(most * len(harmless))
    above = harmless[allowed] if allowed < len(harmless) else 0.0
    flagged = scores[scores > above]
    return round(float((above + flagged.min()) / 2) if len(flagged) else 1.0, 4)
