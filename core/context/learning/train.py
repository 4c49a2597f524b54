"""Training the detector's head on the states of a frozen encoder.

The encoder stays as it is: with a few hundred families, low-rank adapters in it learned the families and not
what they have in common. Several small networks are trained from different starts and their logits are
averaged; side by side they are one network with one hidden layer, and that is what ships.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from core.context.network import Features

_DEAD = 1e-3  # a state that varies less says nothing, and dividing by it would magnify noise


@dataclass(frozen=True)
class TrainingPlan:
    """The numbers of a training; the same plan and seed give the same head on the same machine."""

    layers: tuple[int, ...] = (3, 4, 6)
    networks: int = 4
    width: int = 128  # hidden units of each network
    epochs: int = 20
    batch: int = 256
    rate: float = 2e-3
    decay: float = 0.1
    dropout: tuple[float, float] = (0.3, 0.5)  # of the states, of the hidden units
    smoothing: float = 0.02
    fillings: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Fitted:
    """A network with one hidden layer: logit = weights . gelu(x @ hidden + offsets) + bias."""

    hidden: Features  # (D, units)
    offsets: Features  # (units,)
    weights: NDArray[np.float64]  # (units,)
    bias: float

    def logits(self, states: Features) -> NDArray[np.float64]:
        """States (n, D) to logits (n,)."""
        return activations(states, self.hidden, self.offsets).astype(np.float64) @ self.weights + self.bias


def activations(states: Features, hidden: Features, offsets: Features) -> Features:
    """The hidden units of each row: (n, units)."""
    summed = torch.from_numpy(states) @ torch.from_numpy(hidden) + torch.from_numpy(offsets)
    return nn.functional.gelu(summed).numpy()


def fit(states: Features, wanted: NDArray[np.float64], plan: TrainingPlan) -> Fitted:
    """Train with AdamW on binary cross-entropy; both classes weigh the same, states are standardised."""
    mean, deviation = states.mean(0), states.std(0)
    deviation[deviation < _DEAD] = 1.0
    rows = torch.from_numpy((states - mean) / deviation)
    target = torch.from_numpy(wanted).float()
    weight = balance(target)
    soft = target * (1 - 2 * plan.smoothing) + plan.smoothing
    trained = [_train(rows, soft, weight, plan, plan.seed + number) for number in range(plan.networks)]
    inner = np.concatenate([hidden.weight.detach().numpy().T for hidden, _ in trained], 1)
    shift = np.concatenate([hidden.bias.detach().numpy() for hidden, _ in trained])
    outer = np.concatenate([unit.weight[0].detach().double().numpy() for _, unit in trained])
    # Standardising is folded into the first layer, and the mean of the logits into the last.
    stored = (inner / deviation[:, None]).astype(np.float16).astype(np.float32)
    return Fitted(
        hidden=stored,
        offsets=shift - mean @ stored,
        weights=outer / plan.networks,
        bias=float(np.mean([unit.bias.item() for _, unit in trained])),
    )


def _train(
    rows: torch.Tensor, soft: torch.Tensor, weight: torch.Tensor, plan: TrainingPlan, seed: int
) -> tuple[nn.Linear, nn.Linear]:
    torch.manual_seed(seed)
    hidden, unit = nn.Linear(rows.shape[1], plan.width), nn.Linear(plan.width, 1)
    model = nn.Sequential(nn.Dropout(plan.dropout[0]), hidden, nn.GELU(), nn.Dropout(plan.dropout[1]), unit)
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=plan.decay)
    steps = plan.epochs * -(-len(rows) // plan.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, plan.rate, total_steps=steps, pct_start=0.1)
    for _ in range(plan.epochs):
        for chosen in torch.randperm(len(rows)).split(plan.batch):
            losses = nn.functional.binary_cross_entropy_with_logits(
                model(rows[chosen])[:, 0], soft[chosen], reduction="none"
            )
            optimizer.zero_grad()
            (losses * weight[chosen]).mean().backward()
            optimizer.step()
            schedule.step()
    return hidden, unit


def balance(wanted: torch.Tensor) -> torch.Tensor:
    """Weights so that sensitive and harmless sentences count the same in sum."""
    share = wanted.mean()
    return 0.5 * (wanted / share + (1 - wanted) / (1 - share))
