"""The share of a step that is spent outside the models: pmfs, weights, losses and the draw.

Strict and SubMix with eight parts on the embedded model, orders 2 and 4, without the ledger. Every turn is
one decode step and then the accounting of the logits that it gave, as in the generation loop; `share` is the
accounting over both. Run with `python -m tests.bench.accounting`.
"""

import argparse
import json
from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch

from core.lm.decode import PublicDecoder
from core.lm.ensemble import Ensemble
from core.lm.stack import LoraShape
from core.predict import Decoding, Protocol, StrictSubMix, SubMix
from core.privacy import sample
from tests.bench.ensembles import embedded_model, prompt_tokens, some_adapters

PARTS = 8
TOKEN = 260
CASES = (("strict", StrictSubMix), ("submix", SubMix))
ORDERS = (2.0, 4.0)


def accounting(protocol: Protocol, logits: torch.Tensor, remaining: tuple[float, ...]) -> int:
    """Everything between the logits of all models and the token, for one query."""
    protocol.restore(remaining, 0)
    decoded = Decoding().from_logits(logits)
    answer = protocol.answer(decoded.query(protocol.shape))
    assert answer.private, "a stopped protocol is no measure"
    return decoded.token(sample(answer.pmf))


def turn(step: Callable[[], torch.Tensor], protocol: Protocol) -> tuple[float, float]:
    """Seconds of the models, and of what follows them."""
    remaining = (protocol.epsilon,) * PARTS  # as a ledger would tell
    start = perf_counter()
    logits = step()
    between = perf_counter()
    accounting(protocol, logits, remaining)
    return between - start, perf_counter() - between


def main() -> None:
    """Measure in turns, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    public = embedded_model()
    prompt = prompt_tokens(public)
    ways: dict[str, tuple[Callable[[], torch.Tensor], Protocol]] = {}
    for name, cls in CASES:
        rows = PARTS * (2 if cls.shape == "halves" else 1)
        decoder = Ensemble(public, some_adapters(public, rows, LoraShape())).decoder()
        decoder.start(prompt)
        for alpha in ORDERS:
            ways[f"{name}_share_alpha_{alpha:g}"] = (
                lambda decoder=decoder: decoder.step(TOKEN),  # type: ignore[misc]
                cls(PARTS, 20.0, alpha, 1024),
            )
    alone = PublicDecoder(public)
    alone.start(prompt)
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    single: list[float] = []
    for _ in range(options.rounds):
        for name, way in ways.items():
            seconds[name].append(turn(*way))
        start = perf_counter()
        alone.step(TOKEN)
        single.append(perf_counter() - start)
    ratios = {}
    print(f"{'':<24}{'models':>10}{'accounting':>12}{'share':>8}{'of one public step':>20}")
    for name, measured in seconds.items():
        models, spent = (median(each) for each in zip(*measured, strict=True))
        share, of_one = spent / (spent + models), spent / median(single)
        print(f"{name:<24}{models * 1e3:>10.1f}{spent * 1e3:>12.2f}{share:>8.1%}{of_one:>20.1%}")
        ratios[name] = round(share, 4)
    print(json.dumps({"bench": "accounting", "ratios": ratios}))


if __name__ == "__main__":
    main()
