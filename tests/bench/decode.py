"""One SubMix step with 17 models, everything included, against one decode step of the public model.

Beside it: the same 17 models as a loop over PEFT adapters and as PEFT's mixed batch (models only, without
weights, losses, ledger and sample). Run with `python -m tests.bench.decode`.
"""

import argparse
import copy
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from core.lm.adapters import save_ensemble
from core.lm.ensemble import Ensemble
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape
from core.predict import Decoding, SubMix
from core.privacy.sampling import sample
from core.settings import Settings
from core.store import open_store
from tests.bench.ensembles import embedded_model, prompt_tokens, some_adapters
from tests.bench.timing import in_turns, report

PARTS = 8
TOKEN = 260


class SubMixStep:
    """Models, pmfs, weights and losses, debit, sample: what one token costs."""

    def __init__(self, ensemble: Ensemble, prompt: list[int], folder: Path) -> None:
        self.protocol = SubMix(parts=PARTS, epsilon=20.0, alpha=2.0, queries=1024)
        self.ledger = open_store(Settings(_env_file=None, data_dir=folder)).ledger
        self.ledger.open_budget(
            "bench", parts=PARTS, epsilon=20.0, alpha=2.0, queries=1024, protocol="submix", synthetic=True
        )
        self.decoder = ensemble.decoder()
        self.decoder.start(prompt)
        self.token = TOKEN
        self.models, self.rest = 0.0, 0.0

    def __call__(self) -> None:
        begin = perf_counter()
        logits = self.decoder.step(self.token)
        middle = perf_counter()
        decoded = Decoding().from_logits(logits)
        step = self.protocol.answer(decoded.query("halves"))
        self.ledger.debit("bench", step.losses.tolist())
        self.token = decoded.token(sample(step.pmf))
        self.models += middle - begin
        self.rest += perf_counter() - middle
        assert step.private, "the budget ran out, and a stopped protocol is no measure"


def plain_step(model: Any, prompt: list[int], rows: int = 1, **extra: Any) -> Callable[[], object]:
    """One step of a transformers model with its own cache, `rows` copies of the prompt in a batch."""
    with torch.inference_mode():
        cache = model(
            torch.tensor([prompt] * rows), use_cache=True, logits_to_keep=1, **extra
        ).past_key_values
    token = torch.tensor([[TOKEN]] * rows)

    @torch.inference_mode()
    def step() -> object:
        return model(token, past_key_values=cache, use_cache=True, **extra).logits

    return step


def peft_ways(public: PublicModel, stack: AdapterStack, prompt: list[int]) -> dict[str, Callable[[], object]]:
    """The 17 models by PEFT: one after the other, and in one batch of mixed adapters."""
    from peft import PeftModel

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "ensemble"
        save_ensemble(folder, stack, public)
        first, *others = stack.names
        model = PeftModel.from_pretrained(copy.deepcopy(public.model), folder / first, adapter_name=first)
        for other in others:
            model.load_adapter(folder / other, adapter_name=other)
    model.eval()
    base = plain_step(public.model, prompt)
    steps = []
    for adapter in stack.names:
        model.set_adapter(adapter)
        steps.append((adapter, plain_step(model, prompt)))

    def loop() -> None:
        base()
        for adapter, step in steps:
            model.set_adapter(adapter)
            step()

    rows = ["__base__", *stack.names]
    return {"PEFT loop": loop, "PEFT mixed batch": plain_step(model, prompt, len(rows), adapter_names=rows)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    arguments = parser.parse_args()
    public = embedded_model()
    prompt = prompt_tokens(public)
    shape = LoraShape(layers=arguments.layers)
    stack = some_adapters(public, 2 * PARTS, shape)
    lean = Ensemble(public, stack.select([])).decoder()
    lean.start(prompt)
    with tempfile.TemporaryDirectory() as folder:
        ours = SubMixStep(Ensemble(public, stack), prompt, Path(folder))
        ways: dict[str, Callable[[], object]] = {
            "public model, transformers": plain_step(public.model, prompt),
            "public model, our forward": lambda: lean.step(TOKEN),
            "SubMix step, 17 models": ours,
            **peft_ways(public, stack, prompt),
        }
        seconds = in_turns(ways, rounds=arguments.rounds, seldom={"PEFT loop": 5, "PEFT mixed batch": 2})
    single, own_single, step, loop, mixed = seconds.values()
    print(f"17 models, top {shape.layers} layers, rank {shape.rank}, {torch.get_num_threads()} threads")
    ratios = {
        "vs_single": step / single,
        "vs_single_lean": step / own_single,
        "vs_loop": loop / step,
        "vs_mixed_batch": mixed / step,
        "outside_models": ours.rest / (ours.models + ours.rest),
    }
    report("decode", seconds, ratios, milliseconds={k: round(v * 1e3, 1) for k, v in seconds.items()})


if __name__ == "__main__":
    main()
