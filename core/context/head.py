"""The head: one layer of hidden units and a logistic unit, in one folder without pickles."""

import json
import math
from dataclasses import asdict, dataclass, replace
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


@dataclass(frozen=True, eq=False)
class Head:
    """A trained head. The probability of a sentence whose states are x is sigma(w . gelu(x A + c) + b)."""

    hidden: NDArray[np.float32]  # A, (D, H)
    offsets: NDArray[np.float32]  # c, (H,)
    weights: Floats  # w, (H,)
    bias: float
    threshold: float
    about: About

    def units(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """The hidden units: states (n, D) to (n, H)."""
        from core.context.train import activations

        return activations(states, self.hidden, self.offsets)

    def probabilities(self, units: NDArray[Any]) -> Floats:
        """Hidden units (n, H) to probabilities (n,)."""
        logits = units.astype(np.float64) @ self.weights + self.bias
        return 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))

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
        facts = {"version": _VERSION, "threshold": self.threshold, **asdict(self.about)}
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
            threshold = float(facts.pop("threshold"))
            about = About(**{**facts, "layers": tuple(facts["layers"]), "taught": tuple(facts["taught"])})
            head = Head(
                hidden=numbers["hidden"].astype(np.float32),
                offsets=numbers["offsets"],
                weights=numbers["weights"].astype(np.float64),
                bias=float(numbers["bias"][0]),
                threshold=threshold,
                about=about,
            )
        except FileNotFoundError as error:
            raise ModelUnavailable(f"There is no detector in {folder}.") from error
        except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
            raise ModelUnavailable(f"The detector in {folder} cannot be read: {error}.") from error
        finite = all(np.isfinite(each).all() for each in (head.hidden, head.offsets, head.weights))
        if not (finite and math.isfinite(head.bias) and 0.0 <= threshold <= 1.0):
            raise ModelUnavailable(f"The detector in {folder} holds numbers that are none.")
        return head

    def at(self, threshold: float) -> "Head":
        """The same head with another threshold."""
        return replace(self, threshold=threshold)
