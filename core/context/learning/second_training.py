"""Training the second look: low-rank adapters on the lower layers of the public language model.

It learns from all training families but those that calibrate (`Family.calibrates`): on these is learned how
the two logits go together, so neither reader may have seen them. In bfloat16, which takes a third of the time
where the processor knows it; what is trained is kept in float32.
"""

import copy
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from core.context.learning.families import Family
from core.context.learning.train import balance
from core.context.learning.widen import targets
from core.context.second import PLACES, Judgement, SecondAbout, judged, lower_layers, tokenise

if TYPE_CHECKING:
    from core.lm.public import PublicModel

Said = Callable[[str], None]
_STRENGTH = 2.0  # what an adapter's product is multiplied with


@dataclass(frozen=True)
class SecondPlan:
    """The numbers of a training; 27 minutes on two cores with 1,210 families."""

    layers: int = 16
    rank: int = 16
    epochs: int = 2
    batch: int = 48
    rate: float = 3e-4
    decay: float = 0.01
    dropout: float = 0.05
    smoothing: float = 0.02
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Trained:
    """Adapters by the name of their place (a and b each), the judgement, and what they are."""

    adapters: dict[str, torch.Tensor]
    judgement: Judgement
    about: SecondAbout


class _Adapted(nn.Module):
    """A linear map with a low-rank product beside it."""

    def __init__(self, linear: nn.Linear, plan: SecondPlan) -> None:
        super().__init__()
        self.linear, self.dropout = linear, nn.Dropout(plan.dropout)
        self.a = nn.Parameter(torch.randn(plan.rank, linear.in_features) / math.sqrt(linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, plan.rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """W x + 2 B A x, in the precision of x."""
        beside: torch.Tensor = (self.dropout(x) @ self.a.to(x.dtype).T) @ self.b.to(x.dtype).T
        along: torch.Tensor = self.linear(x)
        return along + beside * _STRENGTH


def train_second(
    families: Sequence[Family],
    public: "PublicModel",
    plan: SecondPlan | None = None,
    said: Said | None = None,
) -> Trained:
    """Train on the families that do not calibrate; AdamW, both classes weigh the same."""
    plan, said = plan or SecondPlan(), said or (lambda _: None)
    used = [family for family in families if not family.calibrates]
    widened = targets(used, fillings=1, seed=plan.seed)
    torch.manual_seed(plan.seed)
    lower = copy.deepcopy(lower_layers(public, plan.layers)).to(torch.bfloat16).requires_grad_(False).train()
    adapters = _adapt(lower, plan)
    judgement = Judgement(int(public.model.config.hidden_size)).train()
    rows = tokenise(public.tokenizer, [(each.text, each.before) for each in widened])
    wanted = torch.tensor([each.probability for each in widened])
    weight, soft = balance(wanted), wanted * (1 - 2 * plan.smoothing) + plan.smoothing
    parameters = [*(each for pair in adapters.values() for each in pair), *judgement.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=plan.rate, weight_decay=plan.decay)
    steps = plan.epochs * -(-len(rows) // plan.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, plan.rate, total_steps=steps, pct_start=0.06)
    draw, done, losses = random.Random(plan.seed), 0, []
    for _ in range(plan.epochs):
        for batch in _shuffled([len(row) for row in rows], plan.batch, draw):
            logits = judged(lower, judgement, [rows[i] for i in batch])
            each = nn.functional.binary_cross_entropy_with_logits(logits, soft[batch], reduction="none")
            loss = (each * weight[batch]).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            losses.append(loss.item())
            if done % 50 == 0:
                said(f"step {done} of {steps}, loss {sum(losses[-50:]) / 50:.3f}")
    about = SecondAbout(public.digest, plan.layers, plan.rank, len(used), len(rows), plan.seed)
    named = {
        f"{name}.{which}": value.detach() * factor
        for name, (a, b) in adapters.items()
        for which, value, factor in (("a", a, 1.0), ("b", b, _STRENGTH))
    }
    return Trained(named, judgement.eval(), about)


def _adapt(lower: Any, plan: SecondPlan) -> dict[str, tuple[nn.Parameter, nn.Parameter]]:
    """Put adapters beside the products of every layer; by number of the layer and place."""
    found = {}
    for number, layer in enumerate(lower.layers):
        for place in PLACES:
            inside, name = place.split(".")
            adapted = _Adapted(getattr(getattr(layer, inside), name), plan)
            setattr(getattr(layer, inside), name, adapted)
            found[f"{number}.{place}"] = (adapted.a, adapted.b)
    return found


def _shuffled(lengths: Sequence[int], size: int, draw: random.Random) -> list[list[int]]:
    """Batches of rows of about the same length, in random order."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row] + 8.0 * draw.random())
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    draw.shuffle(batches)
    return batches
