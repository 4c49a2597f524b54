"""The share of a step that is spent outside the models: pmfs, weights, losses and the draw.

Strict and SubMix with eight parts on the embedded model, orders 2 and 4, without the ledger. `share` is the
accounting over the whole step (models included). Run with `python -m tests.bench.accounting`; with
`--synthetic` the logits are made up and the models are taken to need the given milliseconds.
"""

import argparse
import json
from collections.abc import Callable

import numpy as np
import torch

from core.predict import Decoding, Protocol, StrictSubMix, SubMix
from core.privacy import sample
from tests.bench.timing import in_turns

PARTS = 8
VOCABULARY = 49_152
TOKEN = 260
CASES = (("strict", StrictSubMix), ("submix", SubMix))


def accounting(protocol: Protocol, logits: torch.Tensor) -> Callable[[], object]:
    """Everything between the logits of all models and the token, for one query."""

    def step() -> int:
        protocol.restore(np.full(PARTS, protocol.epsilon), 0)
        decoded = Decoding().from_logits(logits)
        answer = protocol.step(
            decoded.public, decoded.halves if protocol.shape == "halves" else decoded.parts
        )
        assert answer.private, "a stopped protocol is no measure"
        return decoded.token(sample(answer.pmf))

    return step


def rows_of(cls: type[Protocol]) -> int:
    """How many models the protocol asks, with the public one."""
    return 1 + PARTS * (2 if cls.shape == "halves" else 1)


def embedded_steps() -> tuple[dict[str, Callable[[], object]], dict[str, torch.Tensor]]:
    """One decode step of the public model and of each protocol's ensemble, and logits of the latter."""
    from core.lm.decode import PublicDecoder
    from core.lm.ensemble import Ensemble
    from core.lm.stack import LoraShape
    from tests.bench.ensembles import embedded_model, prompt_tokens, some_adapters

    public = embedded_model()
    prompt = prompt_tokens(public)
    alone = PublicDecoder(public)
    alone.start(prompt)
    steps: dict[str, Callable[[], object]] = {"public": lambda: alone.step(TOKEN)}
    logits = {}
    for name, cls in CASES:
        decoder = Ensemble(public, some_adapters(public, rows_of(cls) - 1, LoraShape())).decoder()
        decoder.start(prompt)
        logits[name] = decoder.step(TOKEN)
        steps[name] = lambda decoder=decoder: decoder.step(TOKEN)  # type: ignore[misc]
    return steps, logits


def synthetic_logits() -> dict[str, torch.Tensor]:
    """Logits like those of a language model and its fine-tuned relatives."""
    generator = torch.Generator().manual_seed(1)
    base = torch.randn(VOCABULARY, generator=generator) * 3.0
    made = {}
    for name, cls in CASES:
        moved = 0.7 * torch.randn(rows_of(cls), VOCABULARY, generator=generator)
        moved[0] = 0.0
        made[name] = base + moved
    return made


def main() -> None:
    """Measure in turns, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--synthetic", type=float, metavar="MS", help="milliseconds of a decode step")
    options = parser.parse_args()
    ways: dict[str, Callable[[], object]] = {}
    if options.synthetic:
        logits = synthetic_logits()
    else:
        ways, logits = embedded_steps()
    for name, cls in CASES:
        for alpha in (2.0, 4.0):
            ways[f"{name} alpha {alpha:g}"] = accounting(cls(PARTS, 20.0, alpha, 1024), logits[name])
    seconds = in_turns(ways, rounds=options.rounds)
    if options.synthetic:
        seconds |= dict.fromkeys(("public", "strict", "submix"), options.synthetic / 1e3)
    ratios = {}
    print(f"{'':<16}{'models':>10}{'accounting':>12}{'share':>8}{'of one public step':>20}")
    for name, _ in CASES:
        for alpha in (2, 4):
            spent, models = seconds[f"{name} alpha {alpha}"], seconds[name]
            share, alone = spent / (spent + models), spent / seconds["public"]
            print(
                f"{name} alpha {alpha:<4}{models * 1e3:>8.1f}{spent * 1e3:>12.2f}{share:>8.1%}{alone:>20.1%}"
            )
            ratios[f"{name}_share_alpha_{alpha}"] = round(share, 4)
    print(json.dumps({"bench": "accounting", "ratios": ratios}))


if __name__ == "__main__":
    main()
