"""Membership inference: was this text in the training data? Five scores, higher for a member.

- loss: the mean log-likelihood of the tokens (Yeom et al. 2018);
- reference: the same minus that of the public model, which never saw the text (Carlini et al. 2021), and so
  not where the public model itself is the target;
- zlib: the total log-likelihood per byte of the compressed text (Carlini et al. 2021);
- Min-K%: the mean over the k % of tokens that are least likely (Shi et al. 2024);
- Min-K%++: the same after each token was standardised by the law at its place (Zhang et al. 2024).
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.attack.attackers import TextReading, WithLikelihoods
from core.attack.roc import Roc, roc
from core.attack.same_distribution import Difference, differ
from core.attack.targets import PUBLIC
from core.attack.watch import SILENT, Watch
from core.errors import InputError
from core.privacy.renyi import Floats

LEAST_SHARE = 0.2  # the k of Min-K%, as its authors chose it
LONGEST = 256  # tokens of a text that are read
FEWEST = 10  # texts on a side
_LEAST_SPREAD = 1e-3
SCORES = ("loss", "reference", "zlib", "min-k", "min-k++")
TITLES = {
    "loss": "loss",
    "reference": "against public model",
    "zlib": "against zlib",
    "min-k": "Min-K%",
    "min-k++": "Min-K%++",
}


@dataclass(frozen=True)
class Membership:
    """How well each score tells members from others on one target, and whether the sides are alike."""

    target: str
    curves: Mapping[str, Roc]
    difference: Difference

    @property
    def best(self) -> str:
        """The score with the largest area."""
        return max(self.curves, key=lambda name: self.curves[name].area.value)


def membership(
    attacker: WithLikelihoods,
    members: Sequence[str],
    others: Sequence[str],
    rng: np.random.Generator,
    *,
    watch: Watch = SILENT,
) -> Membership:
    """Every score on both sides. The texts should be of different people: their intervals assume it."""
    if min(len(members), len(others)) < FEWEST:
        raise InputError(f"Membership needs at least {FEWEST} texts on each side.")
    texts = [*members, *others]
    found = [
        _scored(attacker, text, piece, number, len(texts))
        for number, (piece, text) in enumerate(watch.parts(texts), 1)
    ]
    inside, outside = found[: len(members)], found[len(members) :]
    names = [name for name in SCORES if name != "reference" or attacker.target.kind != PUBLIC]
    curves = {
        name: roc([each[name] for each in inside], [each[name] for each in outside], rng) for name in names
    }
    return Membership(attacker.target.words, curves, differ(members, others, rng))


def scores(reading: TextReading, text: str) -> dict[str, float]:
    """The five scores of one text."""
    compressed = len(zlib.compress(text.encode(), 9))
    standard = (reading.log_p - reading.mean) / np.maximum(reading.spread, _LEAST_SPREAD)
    return {
        "loss": float(reading.log_p.mean()),
        "reference": float((reading.log_p - reading.public_log_p).mean()),
        "zlib": float(reading.log_p.sum() / compressed),
        "min-k": _lowest(reading.log_p),
        "min-k++": _lowest(standard),
    }


def _lowest(values: Floats) -> float:
    count = max(1, int(LEAST_SHARE * values.size))
    return float(np.partition(values, count - 1)[:count].mean())


def _scored(attacker: WithLikelihoods, text: str, watch: Watch, number: int, count: int) -> dict[str, float]:
    watch.at(0.0, f"{attacker.target.title}: reading text {number} of {count}")
    tokenizer = attacker.subject.public.tokenizer
    tokens = tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids[:LONGEST]
    if not tokens:
        raise InputError("A text without words has no likelihood; leave such texts out.")
    # Documents were trained on behind a separator, so they are read behind one. What is compressed is what
    # was read.
    return scores(attacker.read([attacker.separator, *tokens]), tokenizer.decode(tokens))
