"""Strict at k = 8, 16, 32 and 64 parts: time per token, everything included, and resident memory.

Run with `python -m tests.bench.scale`.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch

from core.lm.ensemble import Ensemble
from core.lm.stack import LoraShape
from core.predict import Decoding, StrictSubMix
from core.privacy.sampling import sample
from core.settings import Settings
from core.store import open_store
from tests.bench.ensembles import embedded_model, prompt_tokens, some_adapters
from tests.bench.timing import in_turns, report

PARTS = (8, 16, 32, 64)
TOKEN = 260


def resident_gigabytes() -> float:
    """What the process holds in memory now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1e6
    return float("nan")


class StrictStep:
    """Models, pmfs, weights and losses, debit, sample: what one token costs."""

    def __init__(self, ensemble: Ensemble, prompt: list[int], parts: int, folder: Path) -> None:
        terms: dict[str, Any] = {"parts": parts, "epsilon": 2.0, "alpha": 2.0, "queries": 1024}
        self.corpus = f"bench-{parts}"
        self.protocol = StrictSubMix(**terms)
        self.ledger = open_store(Settings(_env_file=None, data_dir=folder)).ledger
        self.ledger.open_budget(self.corpus, **terms, protocol="strict", synthetic=True)
        self.decoder = ensemble.decoder()
        self.decoder.start(prompt)
        self.token = TOKEN

    def __call__(self) -> None:
        decoded = Decoding().from_logits(self.decoder.step(self.token))
        step = self.protocol.answer(decoded.query())
        self.ledger.debit(self.corpus, step.losses.tolist())
        self.token = decoded.token(sample(step.pmf))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    arguments = parser.parse_args()
    public = embedded_model()
    prompt = prompt_tokens(public)
    shape = LoraShape(layers=arguments.layers)
    memory: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        ways = {}
        for parts in PARTS:
            ensemble = Ensemble(public, some_adapters(public, parts, shape))
            ways[f"{parts} parts"] = StrictStep(ensemble, prompt, parts, Path(folder))
            ways[f"{parts} parts"]()
            memory[f"{parts} parts"] = round(resident_gigabytes(), 2)
        seconds = in_turns(ways, rounds=arguments.rounds)
    print(f"Strict, top {shape.layers} layers, rank {shape.rank}, {torch.get_num_threads()} threads")
    print(f"  resident, all ensembles so far: {', '.join(f'{k} {v} GB' for k, v in memory.items())}")
    base = seconds["8 parts"]
    ratios = {f"{parts}_vs_8": seconds[f"{parts} parts"] / base for parts in PARTS[1:]}
    report("scale", seconds, ratios, resident_gb=memory["64 parts"])


if __name__ == "__main__":
    main()
