"""Fine-tuning all adapters of an ensemble over cached states of the layers that they share.

The lower layers are frozen and shared, so the states that they hand up are computed once for every sequence
and then read again in each pass; only the top layers and the LM head are run in training. Adapters train
stacked, `rows_at_once` together.

No adapter sees another's data, to the last bit: an adapter's seed comes from its name, its warm-up and decay
run over its own number of steps, clipping and early stopping look at its own gradient and its own held-out
documents, and every matrix product has a shape that does not depend on what the others hold (a row that has
finished, or has no data, keeps its place with weight zero). An adapter without data stays the public model.

Appendix B.1 of the paper has AdamW with a linear warm-up over the batches, batches of 8. So here: linear
warm-up, then linear decay to zero at the adapter's last batch.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

import torch

from core.errors import InputError
from core.lm.public import PublicModel
from core.lm.training import (
    AdapterData,
    AdapterReport,
    Clock,
    Progress,
    TrainingCancelled,
    TrainingResult,
    TrainingSettings,
)
from core.lm.training_group import TrainingGroup
from core.lm.transformer import Transformer, read_transformer

__all__ = [
    "AdapterData",
    "AdapterReport",
    "Progress",
    "TrainingCancelled",
    "TrainingResult",
    "TrainingSettings",
    "finetune",
]


def finetune(
    public: PublicModel,
    data: Sequence[AdapterData],
    settings: TrainingSettings | None = None,
    *,
    folder: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    precision: Literal["no", "bf16"] | None = None,
) -> TrainingResult:
    """Train one adapter on each entry of `data`; in bf16 where there is a GPU, unless `precision` is given.

    With a `folder`, what is reached is kept there as training goes, a second call with the same arguments
    goes on from it, and large caches of states are mapped from files there. It holds private material: keep
    it as safe as the corpus, and delete it afterwards.
    """
    from accelerate import Accelerator

    settings = settings or TrainingSettings()
    _check(data)
    accelerator = Accelerator(mixed_precision=precision or ("bf16" if torch.cuda.is_available() else "no"))
    transformer = _place(public, accelerator.device)
    separator = _separator(public)
    clock = Clock(progress, cancelled)
    groups: list[TrainingGroup] = []
    for batch, entries in groupby(data, key=lambda entry: entry.batch or settings.batch):
        own, alike = replace(settings, batch=batch), list(entries)
        size = own.rows_at_once or _rows_at_once(own, accelerator.device)
        for start in range(0, len(alike), size):
            together = alike[start : start + size]
            place = len(groups), together, len(together)
            groups.append(TrainingGroup(*place, transformer, own, separator, accelerator))
    clock.total = sum(group.work for group in groups)
    results = [group.train(clock, folder) for group in groups]
    rows = torch.cat([weights for weights, _ in results])
    stack = groups[0].unflatten(rows.cpu(), [entry.name for entry in data])
    return TrainingResult(stack, tuple(report for _, reports in results for report in reports))


def _check(data: Sequence[AdapterData]) -> None:
    names = [entry.name for entry in data]
    if not names:
        raise InputError("There is nothing to train: no adapters were asked for.")
    if len(set(names)) != len(names):
        raise InputError("Two adapters of an ensemble cannot have the same name.")


def _place(public: PublicModel, device: torch.device) -> Transformer:
    if device.type == "cpu":
        return read_transformer(public.model)
    return read_transformer(copy.deepcopy(public.model).to(device))


def _separator(public: PublicModel) -> int:
    """The token between documents: the model's end of text."""
    token = public.model.config.eos_token_id
    return int(token[0] if isinstance(token, list) else token)


def _rows_at_once(settings: TrainingSettings, device: torch.device) -> int:
    """As many adapters as fill the device: a processor is full at about a thousand positions."""
    positions = 1024 if device.type == "cpu" else 32_768
    return max(1, positions // (settings.batch * settings.length))
