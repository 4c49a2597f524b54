"""The head: one layer of hidden units and a logistic unit, in one folder without pickles."""

import json
import math
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, ModelUnavailable

Floats = NDArray[np.float64]
UNITS = "head.safetensors"
ABOUT = "head.json"
_VERSION = 2


@dataclass(frozen=True)
class About:
    """What a head was trained on; written beside it."""

    encoder: str
    layers: tuple[int, ...]  # of the encoder, whose states are looked at
    families: int
    sentences: int
    seed: int
    taught: tuple[int, int] = (0, 0)  # sentences of one's own: sensitive, harmless


@dataclass(frozen=True)
class Both:
    """How the encoder's logit and the second look's make one; the second is asked between two limits."""

    low: float
    high: float
    first: float
    second: float
    shift: float

    def asked(self, logits: Floats) -> NDArray[np.bool_]:
        """Which sentences the encoder leaves open."""
        return (logits > self.low) & (logits < self.high)

    def logits(self, first: Floats, second: Floats) -> Floats:
        """The logits of sentences that both have read."""
        return self.first * first + self.second * second + self.shift


@dataclass(frozen=True, eq=False)
class Head:
    """A trained head. The probability of a sentence whose states are x is sigma(w . gelu(x A + c) + b).

    `both` says how a second look goes into it, where there is one.
    """

    hidden: NDArray[np.float32]  # A, (D, H)
    offsets: NDArray[np.float32]  # c, (H,)
    weights: Floats  # w, (H,)
    bias: float
    threshold: float
    about: About
    both: Both | None = None

    def units(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """The hidden units: states (n, D) to (n, H)."""
        from core.context.learning.train import activations

        return activations(states, self.hidden, self.offsets)

    def logits(self, units: NDArray[Any]) -> Floats:
        """Hidden units (n, H) to logits (n,), of the encoder alone."""
        found: Floats = units.astype(np.float64) @ self.weights + self.bias
        return found

    def probabilities(self, units: NDArray[Any]) -> Floats:
        """Hidden units (n, H) to probabilities (n,), of the encoder alone."""
        return sigmoid(self.logits(units))

    def save(self, folder: Path) -> None:
        """Write the numbers as safetensors (the hidden layer in half precision) and what it is as JSON."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        numbers = {
            "hidden": self.hidden.astype(np.float16),
            "offsets": self.offsets,
            "weights": self.weights,
            "bias": np.array([self.bias]),
        }
        save_file({name: np.ascontiguousarray(value) for name, value in numbers.items()}, folder / UNITS)
        both = asdict(self.both) if self.both else None
        facts = {"version": _VERSION, "threshold": self.threshold, "both": both, **asdict(self.about)}
        (folder / ABOUT).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def load(folder: Path) -> "Head":
        """Read a head that `save` wrote; what is broken or from elsewhere is refused with a sentence."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            facts = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            if facts.pop("version") != _VERSION:
                raise InputError(f"{folder} was written by another version of the detector.")
            numbers = load_file(folder / UNITS)
            threshold, both = float(facts.pop("threshold")), facts.pop("both", None)
            about = About(**{**facts, "layers": tuple(facts["layers"]), "taught": tuple(facts["taught"])})
            head = Head(
                hidden=numbers["hidden"].astype(np.float32),
                offsets=numbers["offsets"],
                weights=numbers["weights"].astype(np.float64),
                bias=float(numbers["bias"][0]),
                threshold=threshold,
                about=about,
                both=Both(**{name: float(value) for name, value in both.items()}) if both else None,
            )
        except FileNotFoundError as error:
            raise ModelUnavailable(f"There is no detector in {folder}.") from error
        except (OSError, KeyError, TypeError, ValueError, AttributeError, SafetensorError) as error:
            raise ModelUnavailable(f"The detector in {folder} cannot be read: {error}.") from error
        several = (head.hidden, head.offsets, head.weights, astuple(head.both) if head.both else ())
        finite = all(np.isfinite(each).all() for each in several)
        if not (finite and math.isfinite(head.bias) and 0.0 <= threshold <= 1.0):
            raise ModelUnavailable(f"The detector in {folder} holds numbers that are none.")
        return head

    def at(self, threshold: float) -> "Head":
        """The same head with another threshold."""
        return replace(self, threshold=threshold)


def sigmoid(logits: Floats) -> Floats:
    """Logits as probabilities."""
    return 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))
