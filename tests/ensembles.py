"""Tiny real ensembles on disk: random adapters on a tiny model, saved as a training would save them."""

from pathlib import Path
from typing import Any

import torch

from core.lm.adapters import save_ensemble
from core.lm.public import load_public
from core.lm.stack import LoraShape, fresh_stack
from core.lm.transformer import read_transformer
from core.settings import Settings

SHAPE = LoraShape(layers=2, rank=2)


def make_ensemble(
    settings: Settings,
    name: str,
    *,
    synthetic: bool,
    corpus: str = "",
    k: int = 4,
    halves: bool = False,
    whole: bool = True,
    **budget: Any,
) -> Path:
    """An ensemble that `Studio(settings)` lists under `name`; its adapters change the model a lot."""
    public = load_public(settings.model, settings)
    names = [f"part-{part + 1:02d}{half}" for part in range(k) for half in ("ab" if halves else ("",))]
    if whole and synthetic:
        names.append("whole")
    stack = fresh_stack(read_transformer(public.model).places(SHAPE), SHAPE, names, range(len(names)))
    generator = torch.Generator().manual_seed(5)
    for _, _, b in stack.tensors():
        b.normal_(0.0, 0.3, generator=generator)
    folder = settings.data_dir / "ensembles" / name
    terms = {"epsilon": 2.0, "alpha": 2.0, "queries": 64, "protocol": "strict", "w_max": 0.7} | budget
    save_ensemble(
        folder,
        stack,
        public,
        synthetic=synthetic,
        partition={"corpus": corpus or name, "k": k, "halves": halves, "key": "test"},
        budget=terms,
        dtype=torch.float16,
    )
    return folder
