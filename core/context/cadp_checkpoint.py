"""What a training keeps on disk while it runs: weights, the optimizer's memory and the privacy account."""

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

from core.context.records import Records

_FILE = "cadp.safetensors"


@dataclass(frozen=True)
class Reached:
    """How far a training is. Weights and account are one file: no update is ever without its entry."""

    fingerprint: str
    account: dict[str, Any]
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
    """Replace the checkpoint in one go."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"weights.{i}": tensor.contiguous() for i, tensor in enumerate(reached.weights)}
    for i, memory in enumerate(reached.memory):
        tensors |= {f"memory.{i}.{name}": tensor.contiguous() for name, tensor in memory.items()}
    values = json.dumps(
        {
            "fingerprint": reached.fingerprint,
            "account": reached.account,
            "history": reached.history,
        }
    )
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{_FILE}-")
    os.close(descriptor)
    try:
        save_file(tensors, name, metadata={"values": values})
        Path(name).replace(folder / _FILE)
    finally:
        Path(name).unlink(missing_ok=True)


def read_reached(folder: Path) -> Reached | None:
    """The checkpoint, or None where there is none that can be read."""
    try:
        with safe_open(folder / _FILE, framework="pt") as file:
            values = json.loads(file.metadata()["values"])
            weights: dict[int, torch.Tensor] = {}
            memory: dict[int, dict[str, torch.Tensor]] = {}
            for key in file.keys():  # noqa: SIM118 (not a dictionary)
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
