"""The paper's experiment: perplexity against canary exposure and membership, as in its Figure 1.

WikiText-2 with the canary "My bank security code is 450." in it and fifty other secrets; the paper's LSTM
(one layer, 200 by 200) trained on it without privacy, by DP-SGD, by S-DPSGD (flags by format: any digit, and
Presidio's patterns) and by CADP (flags by the context detector), at several noise levels. The exposure of the
code is exact: its rank among all 1,000 codes. Membership guesses which fifty of a hundred secrets were in the
training text. Two trainings give the frame: one on a text without the canary says what rank the code has by
itself, and one that leaves out what the detector flags says what CADP must beat to be worth its noise.

The claim to check: at comparable perplexity, CADP's exposure is below S-DPSGD's and DP-SGD's.

What differs from the paper: a stretch of the text, a small public vocabulary instead of words, Adam on the
sum of both gradients (`--sgd` is Algorithm 1 to the letter), 100 copies in a twenty-fifth of the text (a
fifth with `--large`) instead of 450 in all of it, and S-DPSGD protects whole sequences instead of tokens.
Seeds make a run repeatable, so that no guarantee is claimed; epsilon is what fresh noise would give each
flagged sequence (delta 1e-5).

The JSON and the figures are written again after every training, so that a run that was ended early still has
what it reached; the next run with the same output makes only what is missing there. `--only` restricts it to
some mechanisms. Rows of other sequences or other flags, as another detector gives them, are refused.

    python -m tests.bench.cadp --data FOLDER [--quick | --large] [--minutes 25] [--output assets/cadp.json]
                               [--only "DP-SGD" "S-DPSGD (digits)"]
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

NOISES = [0.01, 0.05, 0.2, 0.6]


@dataclass(frozen=True)
class Size:
    """How large the experiment is; the default takes about 25 minutes of one core."""

    characters: int = 400_000
    test_characters: int = 60_000
    vocabulary: int = 1024
    length: int = 48
    passes: float = 4.0
    batch: int = 64
    clip: float = 0.1
    learning_rate: float = 8e-3
    copies: int = 100
    secret_copies: int = 8
    sgd: bool = False

    @staticmethod
    def quick() -> "Size":
        """Enough to see that everything runs."""
        return Size(characters=40_000, test_characters=10_000, passes=2.0, batch=32, copies=40)

    @staticmethod
    def large() -> "Size":
        """A fifth of WikiText-2; hours."""
        return Size(characters=2_000_000, test_characters=150_000, vocabulary=2048, secret_copies=10)


@dataclass(frozen=True)
class Case:
    """One training: a mechanism, what flags for it, and the noise."""

    name: str
    mechanism: Any
    flags: str
    noise: float
    seed: int
    canary: bool = True
    left_out: bool = False  # what is flagged is not learned from at all


def cases(noises: Sequence[float], seeds: Sequence[int]) -> Iterator[Case]:
    """All trainings, those without noise first."""
    for seed in seeds:
        yield Case("no privacy", "none", "none", 0.0, seed)
        yield Case("no canary", "none", "none", 0.0, seed, canary=False)
        yield Case("flagged left out", "none", "context", 0.0, seed, left_out=True)
    for seed in seeds:
        for noise in noises:
            yield Case("CADP", "cadp", "context", noise, seed)
            yield Case("S-DPSGD (digits)", "s-dpsgd", "digits", noise, seed)
            yield Case("DP-SGD", "dp-sgd", "every", noise, seed)
            yield Case("S-DPSGD (patterns)", "s-dpsgd", "patterns", noise, seed)


@cache
def prepared(data: Path, size: Size, seed: int, canary: bool) -> Any:
    """The world of a seed and its vocabulary, made once in every process."""
    from core.context.cadp.small_vocabulary import SmallVocabulary
    from tests.bench.cadp_world import make_world
    from tests.bench.ensembles import embedded_model

    vocabulary = SmallVocabulary.cut(embedded_model(), size.vocabulary)
    world = make_world(
        data,
        vocabulary,
        characters=size.characters,
        test_characters=size.test_characters,
        length=size.length,
        copies=size.copies if canary else 0,
        secret_copies=size.secret_copies,
        seed=seed,
    )
    return world, vocabulary


@cache
def flags_of(data: Path, size: Size, seed: int, canary: bool, kind: str) -> tuple[list[bool], str]:
    """The flags of the training records, and what gave them."""
    from core.context.cadp.flags import ContextFlags, EveryFlag, FormatFlags, NoFlag
    from core.context.detector import Detector
    from core.settings import load_settings

    world, _ = prepared(data, size, seed, canary)
    flagger: Any
    if kind == "context":
        flagger = ContextFlags(Detector.load(load_settings()))
    elif kind in ("digits", "patterns"):
        flagger = FormatFlags(kind)  # type: ignore[arg-type]
    else:
        flagger = EveryFlag() if kind == "every" else NoFlag()
    return flagger.flags(world.train.texts), flagger.name


def run(case: Case, data: Path, size: Size) -> dict[str, Any]:
    """Train one model and attack it."""
    import torch

    from core.context.cadp.lstm_learner import LstmLearner
    from core.context.cadp.plan import CadpSettings
    from core.context.cadp.training import CadpTraining
    from tests.bench.cadp_world import CANARY, CODE, attack

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    begun = time.perf_counter()
    world, vocabulary = prepared(data, size, case.seed, case.canary)
    flags, flagger = flags_of(data, size, case.seed, case.canary, case.flags)
    settings = CadpSettings(
        passes=size.passes,
        batch=size.batch,
        length=size.length,
        clip=size.clip,
        noise=case.noise,
        learning_rate=size.learning_rate,
        optimizer="sgd" if size.sgd else "adam",
        updates="in turn" if size.sgd else "together",
        seed=case.seed,
    )
    canary = [f for f, text in zip(flags, world.train.texts, strict=True) if text == CANARY.fill(CODE).text]
    kept = [number for number, flag in enumerate(flags) if not (flag and case.left_out)]
    learner = LstmLearner(world.train.pick(kept), vocabulary, length=size.length, seed=case.seed)
    trained = CadpTraining(learner, [flags[i] for i in kept], settings, mechanism=case.mechanism).run()
    epsilon = trained.account.epsilon(settings.delta) if trained.plan.private else math.inf
    return {
        **asdict(case),
        **asdict(attack(learner.trained(), world)),
        "epsilon": None if math.isinf(epsilon) else round(epsilon, 3),
        "flagger": flagger,
        "sequences": len(flags),
        "flagged": sum(flags),
        "canary_flagged": all(canary) if canary else None,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def main() -> None:
    """Train all, print a table and one line of JSON."""
    chosen = _arguments()
    size = Size.quick() if chosen.quick else Size.large() if chosen.large else Size()
    if chosen.sgd:
        size = replace(size, sgd=True, learning_rate=20.0)
    found = _earlier(chosen.output, size) if chosen.output else []
    made = {_key(row) for row in found}
    wanted = [
        case
        for case in cases(chosen.noises, range(chosen.seeds))
        if _key(asdict(case)) not in made and (not chosen.only or case.name in chosen.only)
    ]
    until, left_out = time.monotonic() + 60.0 * chosen.minutes, 0
    with ProcessPoolExecutor(chosen.jobs) as pool:
        waiting = {pool.submit(_unless_late, case, chosen.data, size, until) for case in wanted}
        for done in as_completed(waiting):
            row = done.result()
            if row is None:
                left_out += 1
                continue
            if any(_differs(row, other) for other in found):
                print(f"{row['name']} is left out: the output holds rows of other sequences or other flags.")
                continue
            found.append(row)
            print(_line(row), flush=True)
            _write(chosen, size, found)
    if left_out:
        print(f"{left_out} trainings were left out: the minutes were over.")
    print(json.dumps(_write(chosen, size, found)))


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells one training from another."""
    return row["name"], row["noise"], row["seed"]


def _earlier(output: Path, size: Size) -> list[dict[str, Any]]:
    """The rows that an earlier run of the same size left in the output."""
    if not output.is_file():
        return []
    record = json.loads(output.read_text(encoding="utf-8"))
    if any(record["settings"][name] != value for name, value in asdict(size).items()):
        sys.exit(f"{output} holds an experiment of another size: choose another file.")
    return list(record["results"])


def _differs(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two rows cannot stand in one figure: other sequences, or other flags by the same means."""
    if (row["seed"], row["canary"]) != (other["seed"], other["canary"]):
        return False
    flags = row["flags"] == other["flags"] and row["flagged"] != other["flagged"]
    return flags or row["sequences"] != other["sequences"]


def _write(chosen: argparse.Namespace, size: Size, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The record of what there is so far, and the figures, into the output if one is asked for."""
    rows = sorted(found, key=lambda row: (row["name"], row["noise"], row["seed"]))
    noises = sorted({row["noise"] for row in rows if row["noise"]})
    settings = asdict(size) | {"noises": noises, "seeds": len({row["seed"] for row in rows})}
    record = {"bench": "cadp", "settings": settings, "results": rows, "claim": claim(rows)}
    if chosen.output:
        from tests.bench.cadp_figure import figures

        chosen.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        for name, picture in figures(rows).items():
            chosen.output.with_name(f"{chosen.output.stem}-{name}.svg").write_text(picture, encoding="utf-8")
    return record


def claim(rows: list[dict[str, Any]], within: float = 0.1) -> dict[str, Any]:
    """For each CADP model, the exposure of the other private models of comparable perplexity (+-10 %)."""
    compared = []
    for row in rows:
        if row["name"] != "CADP":
            continue
        near = {
            other["name"]: round(other["exposure"], 2)
            for other in rows
            if other["name"].startswith(("DP-SGD", "S-DPSGD"))
            and other["seed"] == row["seed"]
            and abs(other["perplexity"] / row["perplexity"] - 1.0) <= within
        }
        compared.append({"noise": row["noise"], "cadp": round(row["exposure"], 2), "others": near})
    answers = [value > entry["cadp"] for entry in compared for value in entry["others"].values()]
    return {"compared": compared, "below": sum(answers), "of": len(answers)}


def _unless_late(case: Case, data: Path, size: Size, until: float) -> dict[str, Any] | None:
    return run(case, data, size) if time.monotonic() < until else None


def _line(row: dict[str, Any]) -> str:
    epsilon = "" if row["epsilon"] is None else f"epsilon {row['epsilon']:,.1f}"
    return (
        f"{row['name']:<20} noise {row['noise']:<5g} flagged {row['flagged'] / row['sequences']:5.1%}  "
        f"perplexity {row['perplexity']:7.1f}  rank {row['rank']:4d}  exposure {row['exposure']:5.2f}  "
        f"membership {row['membership']:.0%}  {epsilon}  ({row['seconds']:.0f} s)"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with {train,test}.raw.gz")
    parser.add_argument("--quick", action="store_true", help="a small size, to see that everything runs")
    parser.add_argument("--large", action="store_true", help="a fifth of the text; hours")
    parser.add_argument("--sgd", action="store_true", help="Algorithm 1 to the letter: SGD, updates in turn")
    parser.add_argument("--minutes", type=float, default=25.0, help="start no training after so many")
    parser.add_argument("--only", nargs="*", help='mechanisms by their names, such as "DP-SGD"')
    parser.add_argument("--noises", type=float, nargs="*", default=NOISES, help="noise multipliers")
    parser.add_argument("--seeds", type=int, default=1, help="repetitions")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once, one thread each")
    parser.add_argument("--output", type=Path, help="a JSON file; the figures are written beside it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
