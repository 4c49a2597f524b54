"""Ensembles on disk: every adapter in PEFT's layout, and a manifest that binds them to their public model.

folder/manifest.json
folder/<name>/adapter_config.json, adapter_model.safetensors
"""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core.errors import InputError, ModelUnavailable
from core.lm.manifest import MANIFEST, Manifest, read_manifest
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, Lora, LoraShape, Place
from core.lm.transformer import Transformer, read_transformer

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_WEIGHTS, _CONFIG = "adapter_model.safetensors", "adapter_config.json"


def save_ensemble(
    folder: Path,
    stack: AdapterStack,
    public: PublicModel,
    *,
    synthetic: bool = False,
    partition: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    created: str | None = None,
    dtype: torch.dtype = torch.float32,
    ranks: Mapping[str, int] | None = None,
) -> Manifest:
    """Write all or nothing; an ensemble that was there before is replaced.

    float16 halves the size. An adapter that `ranks` names is written at that lower rank (`lower_rank`).
    """
    transformer = read_transformer(public.model)
    transformer.places(stack.shape)
    for name in stack.names:
        if not _NAME.fullmatch(name):
            raise InputError(f"An adapter cannot be named {name!r}: small letters, digits and hyphens only.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        staging = Path(scratch) / "new"
        for name in stack.names:
            own = stack.select([name]).lower_rank((ranks or {}).get(name, stack.shape.rank))
            _write_adapter(staging / name, own, transformer, public.name, dtype)
        manifest = Manifest(
            base_model=public.name,
            base_digest=public.digest,
            synthetic=synthetic,
            partition=partition or {},
            training=training or {},
            budget=budget or {},
            created=created or datetime.now(UTC).isoformat(timespec="seconds"),
            adapters={name: _digest(staging / name / _WEIGHTS) for name in stack.names},
        )
        (staging / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        staging.rename(folder)
    return manifest


def load_ensemble(folder: Path, public: PublicModel) -> tuple[AdapterStack, Manifest]:
    """The adapters, checked against their manifest and the public model, in float32.

    Adapters of lower rank are filled up with zeros to the highest, which changes nothing that they say.
    """
    manifest = read_manifest(folder)
    if manifest.base_digest != public.digest:
        raise ModelUnavailable(
            f"The ensemble in {folder} was trained on {manifest.base_model!r} with other weights than "
            f"those of {public.name!r} here: an adapter only fits the model that it was trained on."
        )
    transformer = read_transformer(public.model)
    shapes: list[LoraShape] = []
    rows: list[dict[Place, tuple[torch.Tensor, torch.Tensor]]] = []
    for name, digest in manifest.adapters.items():
        if not _NAME.fullmatch(name):
            raise ModelUnavailable(f"The manifest in {folder} names an adapter {name!r}, which is no name.")
        own = _read_shape(folder / name)
        if shapes and (own.layers, own.scale, own.targets) != (
            shapes[0].layers,
            shapes[0].scale,
            shapes[0].targets,
        ):
            raise ModelUnavailable(f"Adapter {name!r} differs from the others in layers, scale or targets.")
        shapes.append(own)
        rows.append(_read_weights(folder / name, digest, own, transformer))
    if not shapes:
        raise ModelUnavailable(f"The ensemble in {folder} has no adapters.")
    shape = max(shapes, key=lambda each: each.rank)
    places = {
        place: Lora(
            torch.stack([_filled(row[place][0], 1, shape.rank) for row in rows]),
            torch.stack([_filled(row[place][1], 0, shape.rank) for row in rows]),
            shape.scale,
        )
        for place in rows[0]
    }
    return AdapterStack(shape, tuple(manifest.adapters), places), manifest


def remove_ensemble(folder: Path) -> None:
    """Delete an ensemble from disk."""
    read_manifest(folder)
    shutil.rmtree(folder)


def _write_adapter(
    folder: Path, stack: AdapterStack, transformer: Transformer, base: str, dtype: torch.dtype
) -> None:
    """Write a stack of one."""
    from peft import LoraConfig

    folder.mkdir(parents=True)
    tensors = {}
    for place, a, b in stack.tensors():
        key = _key(transformer, place)
        tensors[f"{key}.lora_A.weight"] = a[0].t().to(dtype).contiguous()  # (rank, in)
        tensors[f"{key}.lora_B.weight"] = b[0].t().to(dtype).contiguous()  # (out, rank)
    save_file(tensors, folder / _WEIGHTS, metadata={"format": "pt"})
    config = LoraConfig(
        task_type="CAUSAL_LM",
        inference_mode=True,
        base_model_name_or_path=base,
        r=stack.shape.rank,
        lora_alpha=stack.shape.alpha,
        lora_dropout=0.0,
        bias="none",
        target_modules=sorted({target for _, target in stack.places}),
        layers_to_transform=sorted({layer for layer, _ in stack.places}),
        fan_in_fan_out=transformer.fan_in_fan_out,
    )
    values = {**config.to_dict(), "target_modules": sorted({target for _, target in stack.places})}
    (folder / _CONFIG).write_text(
        json.dumps(values, indent=2, sort_keys=True, default=str) + "\n", encoding="utf-8"
    )


def _read_shape(folder: Path) -> LoraShape:
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        return LoraShape(
            layers=len(config["layers_to_transform"]),
            rank=int(config["r"]),
            alpha=float(config["lora_alpha"]),
            targets=tuple(config["target_modules"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(f"Adapter {folder.name!r} has no readable {_CONFIG}.") from error


def _read_weights(
    folder: Path, digest: str, shape: LoraShape, transformer: Transformer
) -> dict[Place, tuple[torch.Tensor, torch.Tensor]]:
    path = folder / _WEIGHTS
    try:
        if _digest(path) != digest:
            raise ModelUnavailable(
                f"The weights of adapter {folder.name!r} are not those that the manifest names."
            )
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelUnavailable(f"The weights of adapter {folder.name!r} are missing or damaged.") from error
    row = {}
    for place, (width, out) in transformer.places(shape).items():
        key = _key(transformer, place)
        a, b = tensors.get(f"{key}.lora_A.weight"), tensors.get(f"{key}.lora_B.weight")
        if a is None or b is None or a.shape != (shape.rank, width) or b.shape != (out, shape.rank):
            raise ModelUnavailable(
                f"Adapter {folder.name!r} has no weights that fit {key} at rank {shape.rank}."
            )
        row[place] = (a.t().float().contiguous(), b.t().float().contiguous())
    return row


def _filled(tensor: torch.Tensor, axis: int, rank: int) -> torch.Tensor:
    """The tensor with zeros behind it along an axis, up to the rank."""
    missing = list(tensor.shape)
    missing[axis] = rank - tensor.shape[axis]
    return torch.cat((tensor, tensor.new_zeros(missing)), axis) if missing[axis] else tensor


def _key(transformer: Transformer, place: Place) -> str:
    return f"base_model.model.{transformer.prefix}.{place[0]}.{place[1]}"


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
