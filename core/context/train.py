"""Training the detector's network and head on the written families."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from core.context.batches import by_length
from core.context.network import NetworkShape, Tokens, pooled, tokenise, truncated, with_adapters
from core.context.widen import Target

BATCH_TOKENS = 2048
Progress = Callable[[float, float], None]  # share done, loss


@dataclass(frozen=True)
class TrainingPlan:
    """The numbers of a training; the same plan and seed give the same head on the same machine."""

    shape: NetworkShape = field(default_factory=NetworkShape)
    epochs: int = 3
    batch: int = 32
    rate: float = 1e-3
    smoothing: float = 0.02
    fillings: int = 2
    seed: int = 0


class Classifier(nn.Module):
    """The network with one logistic unit on top, for training."""

    def __init__(self, network: Any, width: int) -> None:
        super().__init__()
        self.network = network
        self.drop = nn.Dropout(0.1)
        self.unit = nn.Linear(width, 1)

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits (rows,)."""
        return self.unit(self.drop(pooled(self.network, batch)))[:, 0]


def fit(
    encoder: Any, targets: Sequence[Target], plan: TrainingPlan, progress: Progress | None = None
) -> Classifier:
    """Train fresh adapters and the unit with AdamW on binary cross-entropy; both classes weigh the same."""
    torch.manual_seed(plan.seed)
    draw = random.Random(plan.seed)
    network = with_adapters(truncated(encoder, plan.shape.depth), plan.shape)
    model = Classifier(network, int(network.config.hidden_size)).train()
    tokens = tokenise(encoder.tokenizer, [t.text for t in targets], [t.before for t in targets])
    wanted = torch.tensor([t.probability for t in targets])
    weight = _balance(wanted)
    soft = wanted * (1 - 2 * plan.smoothing) + plan.smoothing
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=plan.rate, weight_decay=0.01)
    steps = plan.epochs * -(-len(targets) // plan.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, plan.rate, total_steps=steps + plan.epochs, pct_start=0.1
    )
    done = 0
    for _ in range(plan.epochs):
        for rows in _batches(tokens, plan.batch, draw):
            losses = nn.functional.binary_cross_entropy_with_logits(
                model(tokens.batch(rows)), soft[rows], reduction="none"
            )
            loss = (losses * weight[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            if progress:
                progress(min(1.0, done / steps), loss.item())
    return model.eval()


def _balance(wanted: torch.Tensor) -> torch.Tensor:
    """Weights so that sensitive and harmless sentences count the same in sum."""
    share = wanted.mean()
    return 0.5 * (wanted / share + (1 - wanted) / (1 - share))


def _batches(tokens: Tokens, size: int, draw: random.Random) -> list[list[int]]:
    """Rows in random order, sorted by length within stretches, so that little is padded."""
    rows = list(range(len(tokens.ids)))
    draw.shuffle(rows)
    stretch = size * 16
    batches = []
    for start in range(0, len(rows), stretch):
        part = sorted(rows[start : start + stretch], key=lambda row: len(tokens.ids[row]))
        batches += [part[place : place + size] for place in range(0, len(part), size)]
    draw.shuffle(batches)
    return batches


@torch.inference_mode()
def logits(model: Classifier, tokens: Tokens) -> np.ndarray:
    """The logits of every row, in order."""
    found = np.zeros(len(tokens.ids))
    for rows in by_length([len(ids) for ids in tokens.ids], BATCH_TOKENS):
        found[rows] = model(tokens.batch(rows)).double().numpy()
    return found
