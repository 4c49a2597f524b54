"""One CADP step on an adapter of the embedded model, against Opacus on the same model, batch and adapter.

The peers are Opacus' DP-SGD on the PEFT model (GradSampleModule and DPOptimizer) and its ghost clipping
(fast gradient clipping). All sequences are flagged, so that all of them do the same work: forward, per-sample
clipping, noise, update. Ours is measured as it trains, on states of the frozen layers that were computed
before; with those layers run in the step too; and with a tenth of the sequences flagged, as CADP is used.

Two batches: passages of the demo corpus, whose lengths differ, so that Opacus fills all of them up to the
longest; and random tokens of one length, where nothing is filled up.

    python -m tests.bench.cadp_step [--sequences 16] [--length 64] [--rounds 5]
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.adapter_learner import AdapterLearner
from core.context.cadp.dpsgd import plain_gradient, private_gradient, private_optimizer
from core.context.cadp.model import public_encoder
from core.context.cadp.randomness import OsRandomness
from core.context.cadp.records import Records, read_records
from core.corpus import load_demo
from core.lm.public import PublicModel
from core.lm.stack import LoraShape
from tests.bench.ensembles import embedded_model
from tests.bench.timing import in_turns, report
from tests.bench.train import peft_model

NOISE, CLIP, RATE = 1.0, 1.0, 0.01


def corpus_records(public: PublicModel, count: int, length: int) -> Records:
    """Passages of the demo corpus, taken from all over it."""
    end = public.tokenizer.eos_token_id
    texts = [document.text for document in load_demo().documents]
    found = read_records(texts, public_encoder(public), length, int(end))
    return found.pick(range(0, len(found) - len(found) % count, len(found) // count)[:count])


def random_records(count: int, length: int) -> Records:
    """Random tokens, all sequences of one length."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(3, 40_000, (count, length - 1), generator=generator).tolist()
    return Records(("",) * count, tuple(tuple(row) for row in tokens), 2)


def ours(
    public: PublicModel, records: Records, shape: LoraShape, *, cached: bool, flagged: int
) -> Callable[[], object]:
    """A step of Algorithm 1 with the first `flagged` sequences private."""
    learner = AdapterLearner(public, records, shape, length=int(records.lengths.max()), keep_states=cached)
    learner.prepare(None, lambda share: None)
    optimizer = torch.optim.Adam(learner.parameters, lr=1e-4)
    private = private_optimizer(
        optimizer,
        noise=NOISE,
        clip=CLIP,
        batch=len(records),
        rate=RATE,
        source=OsRandomness(),
        account=PrivacyAccount(),
    )
    numbers = torch.arange(len(records))

    def step() -> None:
        private_gradient(learner, numbers[:flagged], private)
        plain_gradient(learner, numbers[flagged:], len(records))
        optimizer.step()

    return step


def opacus(public: PublicModel, records: Records, shape: LoraShape, *, ghost: bool) -> Callable[[], object]:
    """A step of Opacus' own DP-SGD on the PEFT model."""
    from opacus.grad_sample import GradSampleModule, GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    model: Any = peft_model(public, shape).train()
    inputs, targets, weights = records.padded(range(len(records)))
    targets = torch.where(weights > 0.0, targets, -100)  # what was filled up is not learned
    settings = {"noise_multiplier": NOISE, "max_grad_norm": CLIP, "expected_batch_size": len(records)}
    plain = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    wrapped: Any
    optimizer: Any
    if ghost:
        wrapped = GradSampleModuleFastGradientClipping(
            model, batch_first=True, loss_reduction="mean", max_grad_norm=CLIP, use_ghost_clipping=True
        )
        optimizer = DPOptimizerFastGradientClipping(plain, **settings)
        criterion = DPLossFastGradientClipping(
            wrapped, optimizer, torch.nn.CrossEntropyLoss(reduction="mean"), "mean"
        )
    else:
        wrapped = GradSampleModule(model, batch_first=True, loss_reduction="mean")
        optimizer = DPOptimizer(plain, **settings)
    mask = weights.long()

    def step() -> None:
        optimizer.zero_grad()
        logits = wrapped(input_ids=inputs, attention_mask=mask).logits
        if ghost:
            loss = criterion(logits.flatten(0, 1), targets.flatten(), shape=logits.shape)
        else:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()

    return step


def main() -> None:
    """Measure in turns, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=16)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore", message="Full backward hook")  # of Opacus, on frozen inputs
    public, shape = embedded_model(), LoraShape(layers=chosen.layers)
    count, length = chosen.sequences, chosen.length
    batches = {"corpus": corpus_records(public, count, length), "equal": random_records(count, length)}
    seconds: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for batch, records in batches.items():
        took = in_turns(ways(public, records, shape), rounds=chosen.rounds)
        seconds |= {f"{batch}: {name}": value for name, value in took.items()}
        plain, step = took["Opacus DP-SGD on PEFT"], took["CADP, all flagged"]
        ratios |= {
            f"{batch}_vs_opacus": plain / step,
            f"{batch}_vs_opacus_ghost": took["Opacus ghost clipping"] / step,
            f"{batch}_whole_model_vs_opacus": plain / took["CADP, lower layers too"],
            f"{batch}_tenth_flagged_vs_opacus": plain / took["CADP, a tenth flagged"],
        }
    print(f"{count} sequences of at most {length} tokens, top {chosen.layers} layers, rank {shape.rank}")
    report("cadp_step", seconds, ratios)


def ways(public: PublicModel, records: Records, shape: LoraShape) -> dict[str, Callable[[], object]]:
    """The steps that are compared on one batch."""
    count = len(records)
    return {
        "Opacus DP-SGD on PEFT": opacus(public, records, shape, ghost=False),
        "Opacus ghost clipping": opacus(public, records, shape, ghost=True),
        "CADP, all flagged": ours(public, records, shape, cached=True, flagged=count),
        "CADP, lower layers too": ours(public, records, shape, cached=False, flagged=count),
        "CADP, a tenth flagged": ours(public, records, shape, cached=True, flagged=-(-count // 10)),
    }


if __name__ == "__main__":
    main()
