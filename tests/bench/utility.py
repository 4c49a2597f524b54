"""What privacy costs in perplexity: WikiText-2 as the paper measures it, at alpha 2.

Blocks of 512 tokens are the users. For each k the same private text is cut into k parts and one adapter is
trained on each (SubMix: on each half of 8 parts), and one on the whole text. The held-out text is read a
token a query, 1,024 queries a budget, and the perplexities of `--runs` such stretches are averaged. Two
shares are reported: of the whole-text adapter's gain over the public model, and of the unprotected
ensemble's.

    python -m tests.bench.utility --data FOLDER [--tokens 192000] [--output assets/utility.json]
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from core.lm.ensemble import Ensemble
from core.lm.finetune import AdapterData, Progress, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape
from core.predict import Decoding, PMixED, Protocol, StrictSubMix, SubMix
from tests.bench.ensembles import embedded_model

BLOCK, QUERIES, ALPHA = 512, 1024, 2.0
POSITIONS_AT_ONCE = 16


@dataclass(frozen=True)
class Case:
    """One protocol over so many adapters; SubMix pairs 16 of them as the halves of 8 parts."""

    name: str
    adapters: int
    make: Callable[..., Protocol]


def cases(ks: list[int]) -> list[Case]:
    """Everything that is compared; w_max and allowance vary so that the defaults can be chosen here."""
    found = [Case("submix k=8", 16, partial(SubMix, 8))]
    for k in ks:
        found.append(Case(f"pmixed k={k}", k, partial(PMixED, k)))
        for w_max, allowance in product((0.3, 0.5, 0.7), ("rolling", "banked")):
            strict = partial(StrictSubMix, k, w_max=w_max, allowance=allowance)
            found.append(Case(f"strict k={k} w_max={w_max} {allowance}", k, strict))
    return found


def blocks(path: Path, public: PublicModel, tokens: int) -> list[list[int]]:
    """The first so many tokens of a file, in users of 512."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read(tokens * 8)
    ids = public.tokenizer(text, add_special_tokens=False).input_ids[:tokens]
    return [list(ids[start : start + BLOCK]) for start in range(0, len(ids) - BLOCK + 1, BLOCK)]


def train(
    public: PublicModel, users: list[list[int]], parts: int, settings: TrainingSettings
) -> AdapterStack:
    """One adapter for each of `parts` shares of the users, dealt in turn."""
    begun = time.perf_counter()

    def show(progress: Progress) -> None:
        print(f"\r  {parts} adapters: {progress.share:5.1%}, {progress.seconds_left:5.0f} s left", end="")

    data = [AdapterData(f"part-{part:02d}", users[part::parts], validation=0.0) for part in range(parts)]
    stack = finetune(public, data, settings, progress=show).stack
    print(f"\r  {parts} adapters trained in {time.perf_counter() - begun:.0f} s" + " " * 20)
    return stack


def perplexities(
    public: PublicModel, stack: AdapterStack, held_out: list[list[int]], protocols: dict[str, Protocol]
) -> dict[str, float]:
    """Perplexity over the blocks, one query a token: public, each model, their mean, the protocols."""
    ensemble = Ensemble(public, stack)
    losses: dict[str, list[float]] = {name: [] for name in ("public", "one part", "ensemble", *protocols)}
    for block in held_out:
        states = ensemble.states(block)[:, :-1]
        for start in range(0, states.shape[1], POSITIONS_AT_ONCE):
            logits = ensemble.logits(states[:, start : start + POSITIONS_AT_ONCE])  # (rows, t, V)
            for offset in range(logits.shape[1]):
                target = block[start + offset + 1]
                decoded = Decoding().from_logits(logits[:, offset])
                place = target if decoded.tokens is None else int(np.searchsorted(decoded.tokens, target))
                if decoded.token(min(place, decoded.public.size - 1)) != target:
                    continue  # below the public floor of 1e-16: no model of the run may give it
                losses["public"].append(-np.log(decoded.pmfs[0, place]))
                losses["one part"].append(-np.log(decoded.pmfs[1:, place]).mean())
                losses["ensemble"].append(-np.log(decoded.pmfs[1:, place].mean()))
                for name, protocol in protocols.items():
                    rows = decoded.halves if protocol.shape == "halves" else decoded.parts
                    losses[name].append(-np.log(protocol.step(decoded.public, rows).pmf[place]))
    return {name: float(np.exp(np.mean(values))) for name, values in losses.items()}


def main() -> None:
    """Train, measure, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with {train,test}.raw.gz")
    parser.add_argument("--tokens", type=int, default=192_000, help="private text, in tokens")
    parser.add_argument("--runs", type=int, default=2, help="stretches of 1,024 queries")
    parser.add_argument("--parts", type=int, nargs="*", default=[8, 16, 32, 64])
    parser.add_argument("--epsilons", type=float, nargs="*", default=[2.0, 8.0])
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    public = embedded_model()
    settings = TrainingSettings(passes=chosen.passes, shape=LoraShape(layers=chosen.layers), validation=0.0)
    users = blocks(chosen.data / "train.raw.gz", public, chosen.tokens)
    # A block asks 511 queries; two of them, and one token more of a third, would be 1,024.
    held_out = blocks(chosen.data / "test.raw.gz", public, chosen.runs * 2 * BLOCK)
    rows: dict[str, dict[str, float]] = {}
    whole = _measure(public, train(public, users, 1, settings), held_out, [], chosen)
    rows["public"], rows["whole text"] = whole["public"], whole["one part"]
    wanted = cases(chosen.parts)
    for adapters in sorted({case.adapters for case in wanted}):
        over = [case for case in wanted if case.adapters == adapters]
        found = _measure(public, train(public, users, adapters, settings), held_out, over, chosen)
        rows[f"one part of {adapters}"] = found["one part"]
        rows[f"ensemble of {adapters}"] = found["ensemble"]
        for case in over:
            rows[case.name] = found[case.name] | {"ensemble": found["ensemble"][f"{chosen.epsilons[0]:g}"]}
    _show(rows, chosen, settings)


def _measure(
    public: PublicModel,
    stack: AdapterStack,
    held_out: list[list[int]],
    wanted: list[Case],
    chosen: argparse.Namespace,
) -> dict[str, dict[str, float]]:
    """Perplexity by name and epsilon, the mean over the runs; every run has a budget of its own."""
    found: dict[str, dict[str, list[float]]] = {}
    for run in range(chosen.runs):
        stretch = held_out[2 * run : 2 * run + 2]
        for epsilon in chosen.epsilons:
            protocols = {
                case.name: case.make(epsilon=epsilon, alpha=ALPHA, queries=QUERIES) for case in wanted
            }
            for name, value in perplexities(public, stack, stretch, protocols).items():
                found.setdefault(name, {}).setdefault(f"{epsilon:g}", []).append(value)
    return {
        name: {epsilon: float(np.mean(values)) for epsilon, values in by.items()}
        for name, by in found.items()
    }


def _show(rows: dict[str, dict[str, float]], chosen: argparse.Namespace, settings: TrainingSettings) -> None:
    first = f"{chosen.epsilons[0]:g}"
    public, whole = rows["public"][first], rows["whole text"][first]
    print(
        f"{'':40}"
        + "".join(f"{'epsilon ' + f'{e:g}':>12}" for e in chosen.epsilons)
        + "   of whole   of ensemble"
    )
    results = {}
    for name, by in rows.items():
        of_whole = (public - by[first]) / (public - whole)
        best = by.get("ensemble")
        of_ensemble = (public - by[first]) / (public - best) if best else None
        results[name] = {"perplexity": by, "of_whole": of_whole, "of_ensemble": of_ensemble}
        values = "".join(f"{by[f'{e:g}']:>12.2f}" for e in chosen.epsilons)
        shown = "" if of_ensemble is None else f"{of_ensemble:.0%}"
        print(f"{name:40}{values}{of_whole:>11.0%}{shown:>14}")
    record = {
        "bench": "utility",
        "ratios": {name: round(row["of_whole"], 3) for name, row in results.items()},  # type: ignore[call-overload]
        "settings": {
            "tokens": chosen.tokens,
            "runs": chosen.runs,
            "queries": QUERIES,
            "alpha": ALPHA,
            "training": asdict(settings),
        },
        "results": results,
    }
    if chosen.output:
        chosen.output.write_text(json.dumps(record, indent=1, default=str) + "\n", encoding="utf-8")
    print(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
