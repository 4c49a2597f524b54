"""The thesis' experiment: what MDP and SMDP cost in perplexity, and whether a planted secret comes out.

A stretch of WikiText-2 gets canaries ("My ID is 145572." and others), ten copies each, and is privatised
with MDP (every word) and SMDP (words with digits) at the epsilons of Table A.2. One adapter is trained on
each version and on the text itself. Reported are the perplexity on the test split, which is left as it is
(Table A.2), and the exposure of the canaries (Table A.3), by exact rank over the 10^6 codes where a canary is
likely and by a sample with its interval otherwise. The claim to check: SMDP's perplexity lies between that
without privacy and that of MDP, at equal exposure.

What differs from the thesis: SmolLM2-135M with adapters instead of GPT-2, a stretch of the text instead of
all of it, and the 50-dimensional lower-case GloVe vectors instead of 300-dimensional ones with case. So
epsilons mean other things (words hardly move above 17), MDP also loses all capitals, and 145572, which lies
outside this vocabulary, becomes a uniform number at every epsilon. The limit of no noise is measured too.

    python -m tests.bench.smdp --data FOLDER [--tokens 5000] [--output assets/smdp.json]
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from core.attack.ranking.branches import Branches
from core.attack.ranking.exposure import Effort, Exposure, exposure
from core.attack.ranking.reader import ModelReader
from core.attack.ranking.spelling import spell
from core.charts import Axis, Line, line_chart
from core.corpus.canaries import Canary, CanaryFormat
from core.lm.ensemble import Ensemble
from core.lm.finetune import AdapterData, Progress, TrainingSettings, finetune
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape
from core.sanitize import AllWords, Digits, Policy, Vocabulary, load_vocabulary, make_mechanism, sanitize
from core.settings import EMBEDDED, load_settings
from tests.bench.ensembles import embedded_model

EPSILONS = [1, 3, 6, 12, 17, 23, 29, 35, 41, 47, 52]
NO_NOISE = 1000.0  # the largest epsilon that is taken; every word of the vocabulary stays itself
COPIES, BLOCK = 10, 512
FORMS = [
    "My ID is {digits:6}.",
    "The code of the door is {digits:6}.",
    "Her account number was {digits:6}.",
    "Call the office at {digits:6}.",
]
THESIS = 145572
PUBLIC, PLAIN = "public", "no privacy"
POLICIES: dict[str, Policy] = {"mdp": AllWords(), "smdp": Digits()}


@dataclass(frozen=True)
class Version:
    """The training text of one setting."""

    name: str
    text: str
    mechanism: str = ""
    epsilon: float | None = None
    changed: float = 0.0  # the share of all words that became other words


@dataclass(frozen=True)
class Row:
    """What was measured of one setting."""

    name: str
    mechanism: str
    epsilon: float | None
    changed: float
    perplexity: float
    verbatim: list[int]  # how often each canary's code still stands in the training text
    canaries: list[Exposure]

    @property
    def noisy(self) -> bool:
        """Whether it is one of the epsilons of the table."""
        return self.epsilon not in (None, NO_NOISE)

    @property
    def mean_exposure(self) -> float:
        """The mean over the canaries, in bits; 1.44 is expected of a code that nobody saw."""
        return float(np.mean([canary.bits for canary in self.canaries]))

    @property
    def line(self) -> str:
        """The row of the printed table."""
        return (
            f"{self.name:<14} perplexity {self.perplexity:>7.2f}   exposure {self.canaries[0].bits:>6.2f}"
            f"   mean of canaries {self.mean_exposure:>6.2f}"
        )


def stretch(path: Path, public: PublicModel, tokens: int) -> str:
    """The first so many tokens of a file, cut at a line's end."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read(tokens * 8)
    ids = public.tokenizer(text, add_special_tokens=False).input_ids[:tokens]
    text = str(public.tokenizer.decode(ids))
    return text[: text.rfind("\n") + 1] if "\n" in text else text


def canaries(count: int) -> list[tuple[CanaryFormat, Canary]]:
    """The thesis' own canary, and others with other beginnings and random codes."""
    rng, forms = random.Random(0), [CanaryFormat(form) for form in FORMS[:count]]
    return [(form, form.fill(THESIS) if not at else form.draw(rng)) for at, form in enumerate(forms)]


def planted(text: str, secrets: Sequence[Canary]) -> str:
    """The text with every canary ten times, on lines of its own."""
    rng, lines = random.Random(1), text.splitlines(keepends=True)
    for canary in secrets:
        for _ in range(COPIES):
            lines.insert(rng.randrange(len(lines) + 1), f" {canary.text}\n")
    return "".join(lines)


def versions(text: str, vocabulary: Vocabulary, epsilons: Sequence[float]) -> list[Version]:
    """The text as it is, and privatised with each mechanism at each epsilon."""
    found = [Version(PLAIN, text)]
    for name, policy in POLICIES.items():
        for epsilon in (*epsilons, NO_NOISE):
            begun = time.perf_counter()
            mechanism = make_mechanism("euclidean", vocabulary, epsilon)
            result = sanitize(text, mechanism, policy, rng=np.random.default_rng(2))
            changed = (result.replaced + result.out_of_vocabulary) / result.words
            found.append(Version(f"{name} {epsilon:g}", result.text, name, epsilon, changed))
            print(
                f"  {name} at {epsilon:g}: {changed:.1%} of {result.words:,} words changed, "
                f"{time.perf_counter() - begun:.0f} s"
            )
    return found


def train(
    public: PublicModel, texts: Sequence[Version], settings: TrainingSettings, names: Sequence[str]
) -> AdapterStack:
    """One adapter for each version, all in one call."""

    def show(progress: Progress) -> None:
        left = progress.seconds_left
        print(f"\r  {len(texts)} adapters: {progress.share:5.1%}, {left:5.0f} s left", end="", flush=True)

    ids = [public.tokenizer(version.text, add_special_tokens=False).input_ids for version in texts]
    data = [AdapterData(name, [own], validation=0.0) for name, own in zip(names, ids, strict=True)]
    begun = time.perf_counter()
    stack = finetune(public, data, settings, progress=show).stack
    print(f"\r  {len(texts)} adapters trained in {time.perf_counter() - begun:.0f} s" + " " * 20)
    return stack


def perplexities(public: PublicModel, stack: AdapterStack, text: str) -> list[float]:
    """Of the public model and of every adapter, over blocks of 512 tokens."""
    ensemble = Ensemble(public, stack)
    ids = public.tokenizer(text, add_special_tokens=False).input_ids
    blocks = [ids[start : start + BLOCK] for start in range(0, len(ids) - 1, BLOCK)]
    losses = [-ensemble.log_likelihoods(block).double().numpy() for block in blocks if len(block) > 1]
    return np.exp(np.concatenate(losses, axis=1).mean(axis=1)).tolist()


def exposures(
    public: PublicModel,
    stack: AdapterStack,
    secrets: Sequence[tuple[CanaryFormat, Canary]],
    effort: Effort,
) -> list[Exposure]:
    """Of every canary under one adapter; under the public model when the stack is empty."""
    reader = ModelReader(Branches(public, stack, public_row=not len(stack)))
    found = []
    for form, canary in secrets:
        spelling = spell(public.tokenizer, form)
        tokens = spelling.tokens(canary.index)
        found.append(exposure(reader, spelling, tokens, rng=np.random.default_rng(3), effort=effort))
    return found


def main() -> None:
    """Privatise, train, measure; a table, one line of JSON, and with --output a file and two pictures."""
    chosen = _arguments()
    public, vocabulary = embedded_model(), load_vocabulary(EMBEDDED, load_settings())
    settings = TrainingSettings(
        passes=chosen.passes,
        batch=chosen.batch,
        learning_rate=chosen.rate,
        shape=LoraShape(layers=chosen.layers),
        validation=0.0,
    )
    effort = Effort(most_read=chosen.most_read, most_enumerated=0, references=chosen.references)
    secrets = canaries(chosen.canaries)
    text = planted(
        stretch(chosen.data / "train.raw.gz", public, chosen.tokens), [canary for _, canary in secrets]
    )
    texts = versions(text, vocabulary, chosen.epsilons)
    names = [f"row-{row:02d}" for row in range(len(texts))]
    stack = train(public, texts, settings, names)
    measured = perplexities(public, stack, stretch(chosen.data / "test.raw.gz", public, chosen.test_tokens))
    rows: list[Row] = []
    for at, version in enumerate([Version(PUBLIC, ""), *texts]):
        own = stack.select(names[at - 1 : at] if at else [])
        found = exposures(public, own, secrets, effort)
        rows.append(
            Row(
                version.name,
                version.mechanism,
                version.epsilon,
                version.changed,
                measured[at],
                [version.text.count(canary.secret.strip()) for _, canary in secrets],
                found,
            )
        )
        print("  " + rows[-1].line, flush=True)
    record = {
        "bench": "smdp",
        "ratios": _claim(rows),
        "settings": {
            "tokens": chosen.tokens,
            "test_tokens": chosen.test_tokens,
            "copies": COPIES,
            "canaries": [canary.text for _, canary in secrets],
            "effort": asdict(effort),
            "training": asdict(settings),
            "vectors": {"words": len(vocabulary), "dimension": vocabulary.dimension},
        },
        "rows": [asdict(row) | {"mean_exposure": row.mean_exposure} for row in rows],
    }
    if chosen.output:
        chosen.output.write_text(json.dumps(record, indent=1, default=str) + "\n", encoding="utf-8")
        for kind, picture in pictures(rows).items():
            chosen.output.with_name(f"{chosen.output.stem}-{kind}.svg").write_text(picture, encoding="utf-8")
    print(json.dumps(record, default=str))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with {train,test}.raw.gz")
    parser.add_argument("--tokens", type=int, default=5_000, help="text to privatise, in tokens of the model")
    parser.add_argument("--test-tokens", type=int, default=8_192)
    parser.add_argument("--epsilons", type=float, nargs="*", default=EPSILONS)
    parser.add_argument("--canaries", type=int, default=len(FORMS), choices=range(1, len(FORMS) + 1))
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--rate", type=float, default=3e-3, help="high enough to memorise ten copies")
    parser.add_argument("--layers", type=int, default=LoraShape().layers)
    parser.add_argument("--most-read", type=int, default=600, help="tokens of a search for an exact rank")
    parser.add_argument("--references", type=int, default=200, help="codes in a sampled rank")
    parser.add_argument("--output", type=Path)
    return parser.parse_args()


def _claim(rows: Sequence[Row]) -> dict[str, float]:
    """At how many epsilons SMDP lies between, and how far apart the exposures are there."""
    by = {(row.mechanism, row.epsilon): row for row in rows}
    plain = next(row for row in rows if row.name == PLAIN).perplexity
    pairs = [(row, by["smdp", row.epsilon]) for row in rows if row.mechanism == "mdp" and row.noisy]
    between = sum(plain <= smdp.perplexity <= mdp.perplexity for mdp, smdp in pairs)
    gap = float(np.mean([smdp.mean_exposure - mdp.mean_exposure for mdp, smdp in pairs]))
    return {"between": between, "epsilons": len(pairs), "smdp_exposure_minus_mdp": round(gap, 3)}


def pictures(rows: Sequence[Row]) -> dict[str, str]:
    """Perplexity and exposure over epsilon."""
    perplexity = _picture(
        rows, lambda row: row.perplexity, "What privacy costs on WikiText-2", "test perplexity"
    )
    label = f"exposure in bits, mean of {len(rows[0].canaries)}"
    exposed = _picture(rows, lambda row: row.mean_exposure, "Whether a planted code comes out", label)
    return {"perplexity": perplexity, "exposure": exposed}


def _picture(rows: Sequence[Row], value: Callable[[Row], float], title: str, label: str) -> str:
    lines = []
    for mechanism, words in (("mdp", "MDP, every word"), ("smdp", "SMDP, digits only")):
        own = [row for row in rows if row.mechanism == mechanism and row.noisy]
        lines.append(Line(words, [(row.epsilon or 0.0, value(row)) for row in own]))
    ends = lines[0].points[0][0], lines[0].points[-1][0]
    for name, words in ((PLAIN, "No privacy"), (PUBLIC, "Not fine-tuned")):
        level = next(value(row) for row in rows if row.name == name)
        lines.append(Line(words, [(end, level) for end in ends], style="dashed"))
    return line_chart(lines, title=title, x=Axis("epsilon"), y=Axis(label))


if __name__ == "__main__":
    main()
