"""What training keeps on disk: checkpoints, written whole or not at all, and large caches of states."""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

# Caches of states above this size are mapped from a file instead of held in memory.
_IN_MEMORY = 1 << 30


@dataclass
class Checkpoint:
    """How far a group of adapters is."""

    weights: torch.Tensor  # (size, P)
    moments: torch.Tensor  # (2, size, P), AdamW's
    best: torch.Tensor  # (size, P)
    best_known: torch.Tensor  # (size,)
    fingerprint: str
    step: int
    stopped: list[bool]
    losses: list[list[float]]
    validation: list[list[float]]
    finished: bool = False

    @classmethod
    def fresh(cls, weights: torch.Tensor, fingerprint: str) -> "Checkpoint":
        """The state before the first step."""
        size = len(weights)
        return cls(
            weights=weights,
            moments=torch.zeros(2, *weights.shape),
            best=torch.zeros_like(weights),
            best_known=torch.zeros(size, dtype=torch.bool),
            fingerprint=fingerprint,
            step=0,
            stopped=[False] * size,
            losses=[[] for _ in range(size)],
            validation=[[] for _ in range(size)],
        )


_TENSORS = ("weights", "moments", "best", "best_known")
_VALUES = ("fingerprint", "step", "stopped", "losses", "validation", "finished")


def write_checkpoint(path: Path, point: Checkpoint) -> None:
    """Replace the checkpoint at `path` in one go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = json.dumps({name: getattr(point, name) for name in _VALUES})
    tensors = {name: getattr(point, name).contiguous() for name in _TENSORS}
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(descriptor)
    try:
        save_file(tensors, name, metadata={"values": values})
        Path(name).replace(path.with_suffix(".safetensors"))
    finally:
        Path(name).unlink(missing_ok=True)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint at `path`, or None where there is none that can be read."""
    try:
        with safe_open(path.with_suffix(".safetensors"), framework="pt") as file:
            values = json.loads(file.metadata()["values"])
            return Checkpoint(**{name: file.get_tensor(name) for name in _TENSORS}, **values)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return None


class StateCache:
    """States (n, T, H) in memory, or in a file when they are many."""

    def __init__(self, shape: tuple[int, int, int], folder: Path | None, name: str) -> None:
        self._path: Path | None = None
        size = 4 * shape[0] * shape[1] * shape[2]
        if folder is not None and size > _IN_MEMORY:
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / f"states-{name}.float32"
            self._states = torch.from_numpy(np.memmap(self._path, np.float32, "w+", shape=shape))
        else:
            self._states = torch.empty(shape)

    def write(self, start: int, states: torch.Tensor) -> None:
        """Take in the states of the sequences from `start` on."""
        self._states[start : start + len(states)] = states

    def read(self, sequences: list[int]) -> torch.Tensor:
        """The states of these sequences."""
        return self._states[sequences]

    def close(self) -> None:
        """Let go of memory and file."""
        self._states = torch.empty(0)
        if self._path is not None:
            self._path.unlink(missing_ok=True)
