"""What privacy costs in perplexity: WikiText-2 as the paper measures it, at alpha 2.

Blocks of 512 tokens are the users. For each k the same private text (the train split) is cut into k parts
and one adapter is trained on each; 16 adapters also serve SubMix as the halves of 8 parts, and one adapter
learns the whole text. Text is read a token a query, 1,024 queries a budget. w_max and the allowance of
Strict are chosen for each k on a stretch of the validation split; what is reported is the test split, where
nothing was chosen. Two shares are reported: of the whole-text adapter's gain over the public model, and of
the unprotected ensemble's. Intervals are over blocks of the text (bootstrap), not over trainings.

    python -m tests.bench.utility --data FOLDER [--tokens 131072] [--output assets/utility.json]
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from core.charts import Bar, bar_chart
from core.lm.ensemble import Ensemble
from core.lm.finetune import AdapterData, Progress, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape
from core.predict import Decoding, PMixED, Protocol, StrictSubMix, SubMix
from tests.bench.ensembles import embedded_model

BLOCK, QUERIES, ALPHA = 512, 1024, 2.0
POSITIONS_AT_ONCE = 16
CHUNK = 64  # tokens that the bootstrap draws together
W_MAX, ALLOWANCES = (0.5, 0.7, 0.85), ("rolling", "banked")

Losses = dict[str, list[float]]


@dataclass(frozen=True)
class Case:
    """One protocol; SubMix pairs 16 adapters as the halves of 8 parts."""

    name: str
    make: Callable[..., Protocol]


def strict_cases(k: int) -> list[Case]:
    """The settings of Strict among which the validation text chooses."""
    return [
        Case(f"w_max {w_max}, {allowance}", partial(StrictSubMix, k, w_max=w_max, allowance=allowance))
        for w_max, allowance in product(W_MAX, ALLOWANCES)
    ]


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
    begun, shown = time.perf_counter(), 0.0

    def show(progress: Progress) -> None:
        nonlocal shown
        if progress.share - shown >= 0.1:
            shown = progress.share
            print(f"  {parts} adapters: {shown:4.0%}, {progress.seconds_left:5.0f} s left", flush=True)

    data = [AdapterData(f"part-{part:02d}", users[part::parts], validation=0.0) for part in range(parts)]
    stack = finetune(public, data, settings, progress=show).stack
    print(f"  {parts} adapters trained in {time.perf_counter() - begun:.0f} s", flush=True)
    return stack


def losses_of(
    public: PublicModel,
    stack: AdapterStack,
    text: list[list[int]],
    protocols: Callable[[], Mapping[str, Protocol]],
) -> Losses:
    """Nats at each token: public, one model, the mean of all, and each protocol with a budget a stretch."""
    ensemble = Ensemble(public, stack)
    losses: Losses = {}
    for start in range(0, len(text), 2):  # two blocks ask 1,022 queries
        running = protocols()
        for block in text[start : start + 2]:
            _read(ensemble, block, running, losses)
    return losses


def _read(ensemble: Ensemble, block: list[int], protocols: Mapping[str, Protocol], losses: Losses) -> None:
    states = ensemble.states(block)[:, :-1]
    for start in range(0, states.shape[1], POSITIONS_AT_ONCE):
        logits = ensemble.logits(states[:, start : start + POSITIONS_AT_ONCE])  # (rows, t, V)
        for offset in range(logits.shape[1]):
            target = block[start + offset + 1]
            decoded = Decoding().from_logits(logits[:, offset])
            place = target if decoded.tokens is None else int(np.searchsorted(decoded.tokens, target))
            if decoded.token(min(place, decoded.public.size - 1)) != target:
                continue  # below the public floor of 1e-16: no model of the run may give it
            own = decoded.pmfs[:, place]
            found = {"public": own[0], "one part": np.exp(np.log(own[1:]).mean()), "ensemble": own[1:].mean()}
            for name, protocol in protocols.items():
                found[name] = protocol.answer(decoded.query(protocol.shape)).pmf[place]
            for name, probability in found.items():
                losses.setdefault(name, []).append(-float(np.log(probability)))


@dataclass(frozen=True)
class Measured:
    """One line of the table: nats at each token of the test text, at each epsilon."""

    name: str
    losses: Mapping[str, Sequence[float]]
    ensemble: Sequence[float] | None = None


def perplexity(losses: Sequence[float]) -> float:
    """exp of the mean."""
    return float(np.exp(np.mean(losses)))


def share(public: Sequence[float], own: Sequence[float], best: Sequence[float]) -> tuple[float, float, float]:
    """How much of the perplexity that `best` gains `own` keeps, with a 95 % bootstrap interval."""
    stacked = np.array([public, own, best])
    count = stacked.shape[1] // CHUNK
    chunks = stacked[:, : count * CHUNK].reshape(3, count, CHUNK).mean(axis=2)
    drawn = np.random.default_rng(0).integers(count, size=(2000, count))
    p, o, b = np.exp(chunks[:, drawn].mean(axis=2))
    low, high = np.quantile((p - o) / (p - b), [0.025, 0.975])
    p, o, b = np.exp(stacked.mean(axis=1))
    return float((p - o) / (p - b)), float(low), float(high)


def main() -> None:
    """Train, choose, measure, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with {train,valid,test}.raw.gz")
    parser.add_argument("--tokens", type=int, default=131_072, help="private text, in tokens")
    parser.add_argument("--runs", type=int, default=2, help="stretches of 1,024 queries of the test text")
    parser.add_argument("--parts", type=int, nargs="*", default=[8, 16, 32, 64])
    parser.add_argument("--epsilons", type=float, nargs="*", default=[2.0, 8.0])
    parser.add_argument("--passes", type=int, default=3, help="over each part's text")
    parser.add_argument("--whole-passes", type=int, default=2, help="over the whole text by one adapter")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--rate", type=float, default=TrainingSettings().learning_rate)
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    public = embedded_model()
    users = blocks(chosen.data / "train.raw.gz", public, chosen.tokens)
    valid = blocks(chosen.data / "valid.raw.gz", public, 2 * BLOCK)
    test = blocks(chosen.data / "test.raw.gz", public, chosen.runs * 2 * BLOCK)
    whole = losses_of(public, train(public, users, 1, _settings(chosen, chosen.whole_passes)), test, dict)
    epsilons = [f"{epsilon:g}" for epsilon in chosen.epsilons]
    rows = [
        Measured("public", dict.fromkeys(epsilons, whole["public"])),
        Measured("whole text", dict.fromkeys(epsilons, whole["one part"])),
    ]
    choices: dict[int, dict[str, float]] = {}
    for k in chosen.parts:
        stack = train(public, users, k, _settings(chosen, chosen.passes))
        best, choices[k] = _choose(k, public, stack, valid, chosen.epsilons[0])
        rows += _rows(k, public, stack, test, best, chosen.epsilons)
        _show(rows, chosen, choices)
    _report(rows, chosen, choices)


def _settings(chosen: argparse.Namespace, passes: int) -> TrainingSettings:
    return TrainingSettings(
        passes=passes,
        batch=chosen.batch,
        learning_rate=chosen.rate,
        shape=LoraShape(layers=chosen.layers),
        validation=0.0,
    )


def _choose(
    k: int, public: PublicModel, stack: AdapterStack, valid: list[list[int]], epsilon: float
) -> tuple[Case, dict[str, float]]:
    """The setting of Strict that does best on the validation text, and what each did."""
    cases = strict_cases(k)
    found = losses_of(
        public,
        stack,
        valid,
        lambda: {case.name: case.make(epsilon=epsilon, alpha=ALPHA, queries=QUERIES) for case in cases},
    )
    tried = {case.name: perplexity(found[case.name]) for case in cases}
    return min(cases, key=lambda case: tried[case.name]), tried


def _rows(
    k: int, public: PublicModel, stack: AdapterStack, test: list[list[int]], best: Case, epsilons: list[float]
) -> list[Measured]:
    """The lines of the table that k adapters give, each at every epsilon."""
    wanted = [Case(f"strict k={k} ({best.name})", best.make), Case(f"pmixed k={k}", partial(PMixED, k))]
    if k == 16:
        wanted.append(Case("submix k=8", partial(SubMix, 8)))

    def protocols() -> dict[str, Protocol]:
        return {
            f"{case.name}@{epsilon:g}": case.make(epsilon=epsilon, alpha=ALPHA, queries=QUERIES)
            for case, epsilon in product(wanted, epsilons)
        }

    found = losses_of(public, stack, test, protocols)
    lines = [
        Measured(f"{name} of {k}", {f"{epsilon:g}": found[name] for epsilon in epsilons}, found["ensemble"])
        for name in ("one part", "ensemble")
    ]
    for case in wanted:
        own = {f"{epsilon:g}": found[f"{case.name}@{epsilon:g}"] for epsilon in epsilons}
        lines.append(Measured(case.name, own, found["ensemble"]))
    return lines


def _show(rows: list[Measured], chosen: argparse.Namespace, choices: dict[int, dict[str, float]]) -> None:
    first = f"{chosen.epsilons[0]:g}"
    public, whole = rows[0].losses[first], rows[1].losses[first]
    heads = "".join(f"{'epsilon ' + f'{epsilon:g}':>12}" for epsilon in chosen.epsilons)
    print(f"{'perplexity on the test split':44}{heads}{'of whole':>18}{'of ensemble':>18}")
    for row in rows:
        values = "".join(f"{perplexity(losses):>12.2f}" for losses in row.losses.values())
        of_whole = "{:.0%} ({:.0%} {:.0%})".format(*share(public, row.losses[first], whole))
        of_ensemble = ""
        if row.ensemble is not None:
            of_ensemble = "{:.0%} ({:.0%} {:.0%})".format(*share(public, row.losses[first], row.ensemble))
        print(f"{row.name:44}{values}{of_whole:>18}{of_ensemble:>18}", flush=True)
    for k, tried in choices.items():
        print(f"  validation, k={k}: " + "; ".join(f"{name} {value:.2f}" for name, value in tried.items()))


def _report(rows: list[Measured], chosen: argparse.Namespace, choices: dict[int, dict[str, float]]) -> None:
    first = f"{chosen.epsilons[0]:g}"
    public, whole = rows[0].losses[first], rows[1].losses[first]
    results = {}
    for row in rows:
        results[row.name] = {
            "perplexity": {epsilon: perplexity(losses) for epsilon, losses in row.losses.items()},
            "of_whole": {epsilon: share(public, losses, whole) for epsilon, losses in row.losses.items()},
        }
        if row.ensemble is not None:
            results[row.name]["of_ensemble"] = {
                epsilon: share(public, losses, row.ensemble) for epsilon, losses in row.losses.items()
            }
    record = {
        "bench": "utility",
        "ratios": {name: round(row["of_whole"][first][0], 3) for name, row in results.items()},  # type: ignore[index]
        "settings": {
            **{name: getattr(chosen, name) for name in ("tokens", "runs", "passes", "whole_passes")},
            "queries": QUERIES,
            "alpha": ALPHA,
            "training": asdict(_settings(chosen, chosen.passes)),
        },
        "validation": choices,
        "results": results,
    }
    if chosen.output:
        chosen.output.write_text(json.dumps(record, indent=1, default=str) + "\n", encoding="utf-8")
        chosen.output.with_suffix(".svg").write_text(_picture(rows, first) + "\n", encoding="utf-8")
    print(json.dumps(record, default=str))


def _picture(rows: list[Measured], epsilon: str) -> str:
    shown = [row for row in rows if not row.name.startswith("one part")]
    return bar_chart(
        [Bar(row.name, perplexity(row.losses[epsilon])) for row in shown],
        title=f"WikiText-2, {QUERIES:,} queries at epsilon {epsilon}, alpha {ALPHA:g}",
        unit="test perplexity (lower is better)",
        width=640,
    )


if __name__ == "__main__":
    main()
