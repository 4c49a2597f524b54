"""Sentences a second: the detector against the same encoder called plainly, sentence by sentence.

Two comparisons, each on the same sentences in the same run. *Alone*: `Detector.score` against one
`encoder.encode(sentence)` after the other. *In context*: `Detector.detect` on a whole text, which reads each
sentence with the one before it, against plain calls for the sentence and for the pair. Nothing is cached from
one turn to the next: each turn reads other sentences. Presidio with a spaCy model is reported if it is there.
"""

import argparse
import random
from collections.abc import Callable

import torch

from core.context import Detector
from core.context.encoder import load_encoder
from core.context.families import load_families
from core.context.sentences import split
from core.sanitize.patterns import Patterns, installed_model
from core.settings import EMBEDDED, Settings
from tests.bench.timing import in_turns, report


class Texts:
    """Texts of written sentences with other fillings each time, so that no turn repeats another."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed

    def sentences(self) -> list[str]:
        """The next sentences, in random order."""
        self._seed += 1
        draw = random.Random(self._seed)
        families = [family for family in load_families() if family.split == "train"]
        found = [
            f"{each.text.rstrip('.')} {draw.randrange(10**6)}."
            for f in families
            for each in f.examples(seed=self._seed)
        ]
        return draw.sample(found, self._size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=512)
    arguments = parser.parse_args()
    settings = Settings(_env_file=None)
    detector = Detector.load(settings)
    encoder = load_encoder(EMBEDDED, settings)
    few = arguments.sentences // 8  # the plain way is slow: fewer sentences, and its time is scaled
    ours, theirs = Texts(arguments.sentences, 0), Texts(few, 10_000)

    def plain_alone() -> None:
        for sentence in theirs.sentences():
            encoder.encode(sentence)

    def plain_in_context() -> None:
        before = ""
        for sentence in theirs.sentences():
            encoder.encode(sentence)
            encoder.encode(f"{before} {sentence}")
            before = sentence

    text = "\n".join
    ways: dict[str, Callable[[], object]] = {
        "plain, sentence by sentence": plain_alone,
        "detector, sentences alone": lambda: detector.score(ours.sentences()),
        "plain, sentence and pair": plain_in_context,
        "detector, a text with context": lambda: detector.detect(text(ours.sentences())),
    }
    model = installed_model()
    if model:
        policy = Patterns(model)
        ways["Presidio with " + model] = lambda: [policy.spans(each) for each in theirs.sentences()]
    seconds = in_turns(ways, rounds=arguments.rounds)
    each = {
        name: value / (arguments.sentences if name.startswith("detector") else few)
        for name, value in seconds.items()
    }
    alone, ours_alone, pair, ours_pair, *presidio = each.values()
    ratios = {"alone_vs_plain": alone / ours_alone, "context_vs_plain": pair / ours_pair}
    if presidio:
        ratios["vs_presidio_spacy"] = presidio[0] / ours_pair
    else:
        print("  Presidio with a spaCy model: none is installed here")
    pieces = len(split(text(ours.sentences())))
    threads = torch.get_num_threads()
    print(f"  {arguments.sentences} sentences ({pieces} pieces), {threads} threads; ms are per sentence")
    report("detect", each, ratios, per_second={name: round(1 / value) for name, value in each.items()})


if __name__ == "__main__":
    main()
