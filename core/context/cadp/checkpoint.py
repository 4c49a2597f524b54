"""What a training keeps on disk while it runs: weights, the optimizer's memory and the privacy account.

What a crash does to the account. Weights and account of one step are in one file, which replaces the one
before it whole or not at all. So a training that goes on has the account of exactly those updates that are in
its weights, and every step that it makes itself adds one entry: none is forgotten, none is counted twice.

Steps that were made after the last checkpoint and were lost with their process are not counted, because
nothing of them left. Their noisy sums were in the memory of that process alone; no model is saved before the
last step; and when the steps are made again, they draw other batches and fresh noise from the operating
system. The model that leaves is a function of the counted sums, in which the lost ones do not occur. What the
curator saw of lost steps are losses, which no noise covers in any step, and epsilon, a function of public
counts.

The last step is kept before the model is saved. Were it made again after a crash between the two, with other
noise, two models would have left under the account of one; so the same model is saved again.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from core.context.cadp.records import Records

_FILE = "cadp.safetensors"
_VALUES = ("fingerprint", "account", "steps", "share", "history")


@dataclass(frozen=True)
class Reached:
    """How far a training is: the share that is done, and of how many `steps` each step that was made."""

    fingerprint: str
    account: dict[str, Any]
    steps: int
    share: float
    history: list[list[Any]]  # one entry for each step that was made
    weights: list[torch.Tensor]
    memory: list[dict[str, torch.Tensor]]  # the optimizer's, for each parameter; empty for plain SGD


def fingerprint(
    settings: object, records: Records, flagged: Sequence[bool], weights: Sequence[torch.Tensor]
) -> str:
    """What a training depends on: a checkpoint of anything else is not gone on from."""
    total = sha256(repr(settings).encode())
    total.update(repr((records.tokens, records.separator)).encode())
    total.update(bytes(flagged))
    for tensor in weights:
        total.update(repr(tuple(tensor.shape)).encode())
        total.update(tensor.detach().cpu().numpy().tobytes())
    return total.hexdigest()


def write_reached(folder: Path, reached: Reached) -> None:
    """Replace the checkpoint in one go, for its owner alone; a power cut leaves the old or the new one."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tensors = {f"weights.{i}": tensor.contiguous() for i, tensor in enumerate(reached.weights)}
    for i, memory in enumerate(reached.memory):
        tensors |= {f"memory.{i}.{name}": tensor.contiguous() for name, tensor in memory.items()}
    values = json.dumps({name: getattr(reached, name) for name in _VALUES})
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{_FILE}-")
    os.close(descriptor)
    try:
        save_file(tensors, name, metadata={"values": values})
        with Path(name).open("rb") as file:
            os.fchmod(file.fileno(), 0o600)
            os.fsync(file.fileno())
        Path(name).replace(folder / _FILE)
    finally:
        Path(name).unlink(missing_ok=True)


def read_reached(folder: Path, *, tensors: bool = True) -> Reached | None:
    """The checkpoint, with or without its tensors, or None where there is none that can be read."""
    try:
        with safe_open(folder / _FILE, framework="pt") as file:
            values = json.loads(file.metadata()["values"])
            weights: dict[int, torch.Tensor] = {}
            memory: dict[int, dict[str, torch.Tensor]] = {}
            for key in file.keys() if tensors else ():
                kind, number, *name = key.split(".")
                if kind == "weights":
                    weights[int(number)] = file.get_tensor(key)
                else:
                    memory.setdefault(int(number), {})[name[0]] = file.get_tensor(key)
        return Reached(
            **values,
            weights=[weights[i] for i in sorted(weights)],
            memory=[memory[i] for i in sorted(memory)],
        )
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return None
