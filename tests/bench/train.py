"""All adapters over cached trunk states, against PEFT one adapter after the other: same tokens, same batches.

Three passes over the data. Run with `python -m tests.bench.train`.
"""

import argparse
import copy
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import torch

from core.lm.finetune import AdapterData, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.lm.sequences import cut
from core.lm.stack import LoraShape
from tests.bench.ensembles import embedded_model
from tests.bench.timing import report

PASSES = 3


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def train_by_peft(model: Any, tokens: torch.Tensor, settings: TrainingSettings) -> float:
    """One adapter the usual way: the whole model forward, the adapter's gradient back; the last loss."""
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=settings.learning_rate
    )
    loss = torch.zeros(())
    for _ in range(PASSES):
        for batch in tokens.split(settings.batch):
            loss = model(batch, labels=batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return float(loss.detach())


def peft_model(public: PublicModel, shape: LoraShape) -> Any:
    from peft import LoraConfig, get_peft_model

    layers = public.model.config.num_hidden_layers
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=shape.rank,
        lora_alpha=shape.alpha,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(layers - shape.layers, layers)),
    )
    return get_peft_model(copy.deepcopy(public.model), config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapters", type=int, default=4)
    parser.add_argument("--sequences", type=int, default=16, help="sequences of each adapter")
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    arguments = parser.parse_args()
    public = embedded_model()
    settings = TrainingSettings(shape=LoraShape(layers=arguments.layers), passes=PASSES, validation=0.0)
    generator = torch.Generator().manual_seed(0)
    size = (arguments.adapters, arguments.sequences * settings.length - 1)
    documents = torch.randint(3, 40_000, size, generator=generator).tolist()
    data = [AdapterData(f"part-{i}", [document]) for i, document in enumerate(documents)]
    model = peft_model(public, settings.shape)

    # In turns, adapter by adapter, so that a busy machine slows both alike.
    stacked = alone = 0.0
    finetune(public, [AdapterData("warm-up", [documents[0][:100]])], settings)
    for entry in data:
        tokens = cut(entry.documents, settings.length, 2).tokens
        alone += seconds(partial(train_by_peft, model, tokens, settings))
        stacked += seconds(partial(finetune, public, [entry], settings))
    each = arguments.sequences * settings.length
    print(f"{len(data)} adapters of {each:,} tokens, top {arguments.layers} layers")
    times = {"PEFT, one after the other": alone, "stacked on cached states": stacked}
    report("train", times, {"vs_peft": alone / stacked})


if __name__ == "__main__":
    main()
