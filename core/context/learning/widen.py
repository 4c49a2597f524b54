"""Widening the training sentences: other fillings, words, neighbours and spelling. Labels stay."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from core.context.learning.families import Example, Family
from core.context.learning.paraphrase import Paraphraser

# Of the sentences that stand alone, this share is also read behind some other sentence.
_NEIGHBOURS = 0.5
_ROUGH = 0.35
# And this share is also read in the middle of harmless ones, without a full stop between them.
_BURIED = 0.3
# And this share, where a paraphraser is given, is also read in other words.
_OTHER_WORDS = 0.3
_JOINTS = (", ", " and ", " ", "; ", " - ", ", so ")


@dataclass(frozen=True)
class Target:
    """What the network is trained on: a sentence, the one before it, and the probability to give."""

    text: str
    before: str
    probability: float


def targets(
    families: Sequence[Family], *, fillings: int = 2, seed: int = 0, paraphraser: Paraphraser | None = None
) -> list[Target]:
    """All training sentences of the families, widened.

    A sentence that only its neighbour explains ("My number is 42.") is also shown without it, as undecided.
    """
    draw = random.Random(seed)
    examples = [example for family in families for example in family.examples(fillings=fillings, seed=seed)]
    harmless = [example.text for example in examples if not example.sensitive and not example.before]
    made = []
    for example in examples:
        label = float(example.sensitive)
        if example.before:
            made.append(Target(example.text, example.before, label))
            made.append(Target(roughen(example.text, draw), roughen(example.before, draw), label))
            made.append(Target(example.text, "", 0.5))
            continue
        text = roughen(example.text, draw) if draw.random() < _ROUGH else example.text
        before = draw.choice(examples).text if draw.random() < _NEIGHBOURS else ""
        made.append(Target(text, before, label))
        if harmless and draw.random() < _BURIED:
            made.append(Target(bury(example.text, harmless, draw), "", label))
    return made + (in_other_words(examples, paraphraser, draw) if paraphraser else [])


def in_other_words(
    examples: Sequence[Example], paraphraser: Paraphraser, draw: random.Random
) -> list[Target]:
    """One paraphrase each of some of the sentences that stand alone."""
    chosen = [each for each in examples if not each.before and draw.random() < _OTHER_WORDS]
    said = paraphraser.paraphrase([each.text for each in chosen])
    return [
        Target(draw.choice(ways), "", float(each.sensitive))
        for each, ways in zip(chosen, said, strict=True)
        if ways
    ]


def bury(text: str, harmless: Sequence[str], draw: random.Random) -> str:
    """The sentence before, between or behind harmless ones, as in a text without full stops."""
    parts = [draw.choice(harmless) for _ in range(draw.randint(1, 3))]
    parts.insert(draw.randint(0, len(parts)), text)
    return draw.choice(_JOINTS).join(part.rstrip(".") for part in parts)


def roughen(text: str, draw: random.Random) -> str:
    """The text as people type it in a hurry: lower case, no full stop, a slip of the finger."""
    if draw.random() < 0.5:
        text = text.lower()
    if draw.random() < 0.5:
        text = text.rstrip(".")
    if draw.random() < 0.3:
        text = text.replace("'", "")
    if draw.random() < 0.3 and len(text) > 12:
        place = draw.randrange(1, len(text) - 2)
        if text[place : place + 2].isalpha():
            text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text
