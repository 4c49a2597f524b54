"""Sanitising against `mldp-text`, numpy, faiss and Presidio, on the same text and vectors.

Words a second for MDP, for SMDP with digits and with Presidio's patterns, and how they grow with the
vocabulary. `mldp-text` is brought into a temporary folder and imported from there: it asks for an old
numpy, but its mechanism runs on ours. Run with `python -m tests.bench.sanitize`.
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from core.corpus import load_demo
from core.sanitize import Digits, Vocabulary, load_vocabulary, make_mechanism, sanitize
from core.sanitize.patterns import Patterns, recognisers
from core.sanitize.words import word_spans
from core.settings import EMBEDDED, Settings
from tests.bench.timing import in_turns, report

PEER = "mldp-text==0.1.2"
EPSILON = 12.0
SIZES = (10_000, 100_000, 400_000)
OURS, THEIRS, FEW = 4_096, 40, 40  # words in one turn: ours are searched in batches, theirs one by one


@contextmanager
def mldp_text() -> Iterator[Any]:
    """The peer's module, or None where it cannot be had.

    Its module imports nltk and numba for other mechanisms than the one measured; empty ones stand in.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, PEER]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"  {PEER} could not be brought: {done.stderr.strip().splitlines()[-1:]}")
            yield None
            return
        for name in ("nltk", "nltk.corpus", "numba"):
            sys.modules.setdefault(name, types.ModuleType(name))
        sys.modules["nltk"].data = types.SimpleNamespace(find=lambda _: None)  # type: ignore[attr-defined]
        sys.modules["nltk.corpus"].wordnet = None  # type: ignore[attr-defined]
        sys.modules["numba"].njit = lambda **_: lambda function: function  # type: ignore[attr-defined]
        sys.path.insert(0, folder)
        try:
            import mldp_text

            yield mldp_text
        finally:
            sys.path.remove(folder)


def ordinary_text(data: str | None) -> str:
    """WikiText-2 where it is given, else the demo corpus."""
    if data is None:
        return "\n\n".join(document.text for document in load_demo().documents)
    path = Path(data) / "test.raw.gz"
    return gzip.open(path, "rt", encoding="utf-8").read()


def smaller(vocabulary: Vocabulary, size: int) -> Vocabulary:
    """The vocabulary's most frequent words."""
    return Vocabulary(vocabulary.words[:size], np.ascontiguousarray(vocabulary.vectors[:size]))


def keyed(vocabulary: Vocabulary) -> Any:
    """The same words and vectors as gensim has them."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(vocabulary.dimension)
    vectors.vectors = np.ascontiguousarray(vocabulary.vectors)
    vectors.index_to_key = list(vocabulary.words)
    vectors.key_to_index = dict(vocabulary.index)
    return vectors


def one_by_one(vocabulary: Vocabulary, words: list[str]) -> Callable[[], object]:
    """MDP as it is often written: for each word noise, all distances, argmin."""
    rng, vectors = np.random.default_rng(0), np.ascontiguousarray(vocabulary.vectors)
    dimension = vocabulary.dimension

    def run() -> list[str]:
        outputs = []
        for word in words:
            direction = rng.standard_normal(dimension)
            noise = direction / np.linalg.norm(direction) * rng.gamma(dimension, 1 / EPSILON)
            noisy = (vectors[vocabulary.index[word]] + noise).astype(np.float32)
            outputs.append(vocabulary.words[int(np.linalg.norm(vectors - noisy, axis=1).argmin())])
        return outputs

    return run


def faiss_flat(vocabulary: Vocabulary, words: list[str]) -> Callable[[], object]:
    """The same batch of noisy vectors through faiss' exact index."""
    import faiss

    index = faiss.IndexFlatL2(vocabulary.dimension)
    index.add(np.ascontiguousarray(vocabulary.vectors))
    mechanism: Any = make_mechanism("euclidean", vocabulary, EPSILON)
    rng, at = np.random.default_rng(0), [vocabulary.index[word] for word in words]

    def run() -> list[str]:
        noisy = vocabulary.vectors[at] + mechanism.noise(len(at), rng)
        _, found = index.search(noisy.astype(np.float32), 1)
        return [vocabulary.words[i] for i in found[:, 0].tolist()]

    return run


def mdp(vocabulary: Vocabulary, words: list[str], peer: Any, rounds: int) -> dict[str, float]:
    """Seconds a word of each way of perturbing every word."""
    mechanism = make_mechanism("euclidean", vocabulary, EPSILON)
    rng = np.random.default_rng(0)
    few = words[:FEW]
    ways: dict[str, tuple[Callable[[], object], int]] = {
        "ours": (lambda: mechanism.replace(words[:OURS], rng), OURS),
        "faiss, batched": (faiss_flat(vocabulary, words[: OURS // 4]), OURS // 4),
        "numpy, one by one": (one_by_one(vocabulary, few), len(few)),
    }
    if peer is not None:
        theirs = peer.MultivariateCalibrated(
            EPSILON, embedding_matrix=keyed(vocabulary), dim=vocabulary.dimension
        )
        some = words[:THEIRS]
        ways["mldp-text"] = (lambda: [theirs.replace_word(word) for word in some], THEIRS)
    seconds = in_turns({name: way for name, (way, _) in ways.items()}, rounds=rounds)
    return {name: seconds[name] / count for name, (_, count) in ways.items()}


def presidio(texts: list[str]) -> Callable[[], object]:
    """Presidio's engine alone, on a blank English pipeline as there is no model."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    nlp = SpacyNlpEngine()
    nlp.nlp = {"en": spacy.blank("en")}
    registry = RecognizerRegistry(recognizers=list(recognisers()), supported_languages=["en"])
    engine = AnalyzerEngine(registry=registry, nlp_engine=nlp, supported_languages=["en"])
    return lambda: [engine.analyze(text, "en") for text in texts]


def main() -> None:
    """Print the tables and the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="A folder with WikiText-2; the demo corpus otherwise.")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    text = ordinary_text(arguments.data)[:120_000]
    whole = load_vocabulary(EMBEDDED, Settings(_env_file=None))
    pieces = [text[start:end] for start, end in word_spans(text)]
    with mldp_text() as peer:
        grown = {}
        for size in SIZES:
            vocabulary = whole if size == len(whole) else smaller(whole, size)
            words = [w for piece in pieces if (w := piece.lower()) in vocabulary.index]
            words = (words * (OURS // len(words) + 1))[:OURS]
            grown[size] = mdp(vocabulary, words, peer, arguments.rounds)
    texts = [text[start : start + 6_000] for start in range(0, len(text) - 6_000, 6_000)]
    mechanism = make_mechanism("euclidean", whole, EPSILON)
    rng = np.random.default_rng(0)
    selective = in_turns(
        {
            "SMDP, digits": lambda: sanitize(text, mechanism, Digits(), rng=rng),
            "SMDP, patterns": lambda: [sanitize(each, mechanism, Patterns(), rng=rng) for each in texts],
            "Presidio alone": presidio(texts),
        },
        rounds=arguments.rounds,
    )
    show(text, texts, grown, selective)


def show(
    text: str, texts: list[str], grown: dict[int, dict[str, float]], selective: dict[str, float]
) -> None:
    """Words a second, and the ratios between them."""
    print(f"MDP, epsilon {EPSILON:g}, words a second by the size of the vocabulary")
    for name in grown[SIZES[-1]]:
        print(f"  {name:<20}" + "".join(f"{size:>9,}: {1 / grown[size][name]:>8,.0f}" for size in SIZES))
    smdp = len(word_spans(text)) / selective["SMDP, digits"]
    patterns = sum(len(word_spans(each)) for each in texts)
    digits = sanitize(
        text, make_mechanism("tem", Vocabulary(["a", "0"], np.eye(2, dtype=np.float32)), 1.0), Digits()
    )
    print(
        f"SMDP on {len(word_spans(text)):,} words, {digits.sensitive / digits.words:.1%} of them with a digit"
    )
    print(f"  {'digits':<20}{smdp:>10,.0f} words a second")
    for name in ("SMDP, patterns", "Presidio alone"):
        print(f"  {name:<20}{patterns / selective[name]:>10,.0f} words a second")
    last, first = grown[SIZES[-1]], grown[SIZES[0]]
    ratios = {f"mdp_vs_{name.split(',')[0]}": last[name] / last["ours"] for name in last if name != "ours"}
    ratios["patterns_vs_presidio"] = selective["Presidio alone"] / selective["SMDP, patterns"]
    ratios["growth_10k_to_400k"] = last["ours"] / first["ours"]
    if "mldp-text" in last:
        ratios["growth_10k_to_400k_mldp-text"] = last["mldp-text"] / first["mldp-text"]
    speeds = {"mdp": round(1 / last["ours"]), "smdp_digits": round(smdp)}
    report("sanitize", {}, ratios, words_a_second=speeds)


if __name__ == "__main__":
    main()
