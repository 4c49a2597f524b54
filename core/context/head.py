"""The head: adapters for the encoder's lower layers and a logistic unit, in one folder without pickles."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, ModelUnavailable

if TYPE_CHECKING:
    from core.context.network import NetworkShape

Floats = NDArray[np.float64]
ADAPTERS = "adapter_model.safetensors"
UNIT = "head.safetensors"
ABOUT = "head.json"
_VERSION = 1


@dataclass(frozen=True)
class About:
    """What a head was trained on; written beside it."""

    encoder: str
    depth: int
    rank: int
    families: int
    sentences: int
    seed: int
    taught: tuple[int, int] = (0, 0)  # sentences of one's own: sensitive, harmless


@dataclass(frozen=True, eq=False)
class Head:
    """A trained head. The probability of a sentence with features x is 1 / (1 + exp(-(w x + b)))."""

    weights: Floats  # (H,)
    bias: float
    threshold: float
    adapters: Mapping[str, NDArray[np.float32]]
    about: About

    def probabilities(self, features: NDArray[Any]) -> Floats:
        """Features (n, H) to probabilities (n,)."""
        logits = features.astype(np.float64) @ self.weights + self.bias
        return 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))

    def save(self, folder: Path) -> None:
        """Write the adapters in PEFT's layout, the unit as safetensors, and what it is as JSON."""
        from peft import LoraConfig
        from safetensors.numpy import save_file

        from core.context.network import lora_settings

        folder.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: np.ascontiguousarray(value) for name, value in self.adapters.items()}, folder / ADAPTERS
        )
        LoraConfig(**lora_settings(self.shape), inference_mode=True).save_pretrained(str(folder))
        save_file({"weights": self.weights, "bias": np.array([self.bias])}, folder / UNIT)
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
            unit = load_file(folder / UNIT)
            adapters = load_file(folder / ADAPTERS)
            threshold = float(facts.pop("threshold"))
            about = About(**{**facts, "taught": tuple(facts["taught"])})
            head = Head(
                unit["weights"].astype(np.float64), float(unit["bias"][0]), threshold, adapters, about
            )
        except FileNotFoundError as error:
            raise ModelUnavailable(f"There is no detector in {folder}.") from error
        except (OSError, KeyError, TypeError, ValueError, SafetensorError) as error:
            raise ModelUnavailable(f"The detector in {folder} cannot be read: {error}.") from error
        if not (np.isfinite(head.weights).all() and math.isfinite(head.bias) and 0.0 <= threshold <= 1.0):
            raise ModelUnavailable(f"The detector in {folder} holds numbers that are none.")
        return head

    @property
    def shape(self) -> "NetworkShape":
        """The shape of the network that the adapters fit."""
        from core.context.network import NetworkShape

        return NetworkShape(depth=self.about.depth, rank=self.about.rank)

    def at(self, threshold: float) -> "Head":
        """The same head with another threshold."""
        return replace(self, threshold=threshold)
