"""A taught detector as one small file: what teaching changed, and which hidden units it belongs to.

Teaching fits the logistic unit again and leaves the hidden units as they are, so that the file holds one row
of numbers. It is safetensors: nothing in it can run.
"""

import json
import math
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from core.context.detector import Detector
from core.context.head import About, Head
from core.context.scorer import HeadScorer
from core.errors import InputError

ENDING = ".safetensors"
LARGEST = 1_000_000  # bytes
_KIND = "submix-studio taught detector"


def taught_bytes(detector: Detector) -> bytes:
    """The file of a detector with a head."""
    from safetensors.numpy import save

    head = _scorer(detector).head
    facts = {"threshold": detector.threshold, "units": _digest(head), **asdict(head.about)}
    unit = {"weights": head.weights, "bias": np.array([head.bias])}
    return save(unit, metadata={"kind": _KIND, "about": json.dumps(facts)})


def read_taught(path: Path, base: Detector) -> Detector:
    """The detector in a file, on the hidden units of `base`; anything else is refused in a sentence."""
    from safetensors import SafetensorError, safe_open

    refused = InputError(f"{path.name} is no detector that was taught and saved here.")
    scorer = _scorer(base)
    try:
        if path.stat().st_size > LARGEST:
            raise refused
        with safe_open(path, "np") as file:
            metadata = file.metadata() or {}
            facts = json.loads(metadata.get("about", "{}"))
            if metadata.get("kind") != _KIND or not isinstance(facts, dict):
                raise refused
            weights = file.get_tensor("weights").astype(np.float64)
            bias = float(file.get_tensor("bias").reshape(-1)[0])
        threshold, digest = float(facts.pop("threshold")), facts.pop("units")
        taught = tuple(int(each) for each in facts["taught"])
        about = About(**{**facts, "layers": tuple(facts["layers"]), "taught": taught})
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, IndexError) as error:
        raise refused from error
    if digest != _digest(scorer.head) or weights.shape != scorer.head.weights.shape:
        raise InputError(f"{path.name} was taught to an older detector; teach the sentences again.")
    if not (np.isfinite(weights).all() and math.isfinite(bias) and 0.0 <= threshold <= 1.0):
        raise refused
    about = replace(scorer.head.about, taught=about.taught[:2])
    head = replace(scorer.head, weights=weights, bias=bias, threshold=threshold, about=about)
    return Detector("taught", replace(scorer, head=head), threshold)


def _scorer(detector: Detector) -> HeadScorer:
    if not isinstance(detector.scorer, HeadScorer):
        raise InputError("Only a detector with a head can be kept in a file.")
    return detector.scorer


def _digest(head: Head) -> str:
    """Which hidden units a logistic unit belongs to."""
    return sha256(np.ascontiguousarray(head.hidden).tobytes() + head.offsets.tobytes()).hexdigest()[:32]
