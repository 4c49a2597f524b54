"""How many parts? Advice from counts alone: how many people there are and how much they wrote.

The number of parts is public and never tuned on what the text says. It is chosen from two counts, of users
and of words, which whoever knows the number of parts may learn something of; nothing else is looked at.

More parts make a token cheaper: at the same weight the loss of a part falls with k^2 kappa (see
core.privacy.strict). But each part then learns from less text. On WikiText-2 parts of six thousand tokens
still learned well, and 32 of them served better than 16 or 8; much smaller ones have little to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.corpus import Corpus, Partition, largest_k, partition_corpus
from core.errors import InputError

CHOICES = (2, 4, 8, 16, 32, 64)
MOST_PARTS = 256  # offered on the page
MOST_ADVISED = 32
WORDS_A_PART = 5_000
LEAST_WORDS_A_PART = 1_000
REFERENCE = 8


@dataclass(frozen=True)
class Choice:
    """What a number of parts would mean; ranges are from the smallest part to the largest."""

    parts: int
    users: tuple[int, int]
    words: tuple[int, int]
    cost: float  # of a token, against that with 8 parts


@dataclass(frozen=True)
class Guidance:
    """Numbers of parts to choose from, and the advice in words."""

    users: int
    words: int
    largest: int
    suggested: int
    choices: tuple[Choice, ...]
    advice: str


def guide(corpus: Corpus, *, key: bytes, halves: bool = False, w_max: float = 0.5) -> Guidance:
    """What to choose from; an InputError where not even two parts can be made."""
    words = sum(len(document.text.split()) for document in corpus.documents)
    largest = largest_k(corpus, key=key, halves=halves, below=MOST_PARTS + 1)
    if largest is None:
        partition_corpus(corpus, 2, key=key, halves=halves)  # says why not
        raise InputError(f"{corpus.name} cannot be split into two parts.")
    offered = sorted({*(choice for choice in CHOICES if choice < largest), largest})
    choices = []
    for parts in offered:
        try:
            partition = partition_corpus(corpus, parts, key=key, halves=halves)
        except InputError:
            continue  # by chance nobody falls into one of the parts
        choices.append(_choice(partition, words / max(1, corpus.characters), w_max))
    suggested = _suggest(choices, words)
    users = len(corpus.users)
    advice = _advice(choices, suggested, words)
    return Guidance(users, words, largest, suggested.parts, tuple(choices), advice)


def relative_cost(parts: int, w_max: float) -> float:
    """What a token costs a part under Strict against 8 parts, at alpha 2 and the same weight."""
    from core.privacy.strict import base_share

    def divisor(k: int) -> float:
        return k**2 * base_share(k, w_max)

    return divisor(REFERENCE) / divisor(parts)


def _choice(partition: Partition, words_a_character: float, w_max: float) -> Choice:
    users = [size.users for size in partition.sizes]
    words = [round(size.characters * words_a_character) for size in partition.sizes]
    return Choice(
        partition.k, (min(users), max(users)), (min(words), max(words)), relative_cost(partition.k, w_max)
    )


def _suggest(choices: Sequence[Choice], words: int) -> Choice:
    """The most parts, up to 32, that still have about five thousand words each; the fewest otherwise."""
    fitting = [c for c in choices if c.parts <= MOST_ADVISED and words >= c.parts * WORDS_A_PART]
    return fitting[-1] if fitting else choices[0]


def _advice(choices: Sequence[Choice], chosen: Choice, words: int) -> str:
    each = words // chosen.parts
    said = [f"{chosen.parts} parts are a good start, with about {each:,} words each."]
    if each < LEAST_WORDS_A_PART:
        said = [
            f"There is little text: even in {chosen.parts} parts only about {each:,} words each. The private "
            "models will hardly differ from the public one."
        ]
    more = next((choice for choice in choices if choice.parts > chosen.parts), None)
    if more is not None:
        saved = f"{more.cost / chosen.cost:.0%} of the cost"
        said.append(
            f"{more.parts} parts would bring a token down to {saved}, with {words // more.parts:,} words."
        )
    said.append("More parts: each token costs less, and each part knows less.")
    return " ".join(said)
