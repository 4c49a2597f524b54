"""How a tokenizer spells the candidates of a canary: a trie of tokens that is never written out.

Where every choice of a format has tokens of its own, whatever stands around it (digits in the embedded
model), a candidate's tokens are those of its choices in turn, and 10^12 candidates need a few lists. Where a
tokenizer joins neighbours (GPT-2 spells 145572 as 145, 572), all candidates are spelled one by one, which is
possible for some hundred thousand of them. Either way the answer is the same kind of thing: places, each
with a list of token sequences to choose from.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from core.corpus.canaries import CanaryFormat
from core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MOST_SPELLED = 200_000  # candidates that are spelled one by one
_CHECKED = 256
Tokens = tuple[int, ...]
Node = tuple[int, int]  # a place, and a node of that place's own trie; its root is node 0


@dataclass(frozen=True)
class Place:
    """The choices at one place as a trie: `children[n]` by token, `ends[n]` the choice that ends in n."""

    children: tuple[dict[int, int], ...]
    ends: tuple[int | None, ...]
    below: tuple[int, ...]  # how many choices end in node n or below

    @classmethod
    def of(cls, choices: Sequence[Tokens]) -> "Place":
        """The trie of these token sequences."""
        children: list[dict[int, int]] = [{}]
        ends: list[int | None] = [None]
        below = [0]
        for number, tokens in enumerate(choices):
            node = 0
            below[0] += 1
            for token in tokens:
                if token not in children[node]:
                    children[node][token] = len(children)
                    children.append({})
                    ends.append(None)
                    below.append(0)
                node = children[node][token]
                below[node] += 1
            if ends[node] is not None or node == 0:
                raise InputError("Two candidates of this canary are spelled with the same tokens.")
            ends[node] = number
        return cls(tuple(children), tuple(ends), tuple(below))


@dataclass(frozen=True)
class Spelling:
    """The prompt's tokens, and the token sequences to choose from at each place after it."""

    prompt: Tokens
    choices: tuple[tuple[Tokens, ...], ...]

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Each place's trie; places with the same choices share one."""
        known: dict[tuple[Tokens, ...], Place] = {}
        for choices in self.choices:
            if choices not in known:
                known[choices] = Place.of(choices)
        return tuple(known[choices] for choices in self.choices)

    @cached_property
    def candidates(self) -> int:
        """How many secrets there are."""
        return prod(len(choices) for choices in self.choices)

    @property
    def root(self) -> Node:
        """Where every candidate begins."""
        return (0, 0)

    def steps(self, node: Node) -> Iterator[tuple[int, Node | None]]:
        """The tokens that may come next, each with the node it leads to; None where a candidate ends.

        A token that both ends a choice and goes on inside it comes twice.
        """
        place, inner = node
        trie = self.places[place]
        for token, child in trie.children[inner].items():
            if trie.ends[child] is not None:
                yield token, (place + 1, 0) if place + 1 < len(self.places) else None
            if trie.children[child]:
                yield token, (place, child)

    def below(self, node: Node) -> int:
        """How many candidates go through a node."""
        place, inner = node
        trie = self.places[place]
        ended = 1 if trie.ends[inner] is not None else 0  # those went on to the next place
        return (trie.below[inner] - ended) * prod(len(choices) for choices in self.choices[place + 1 :])

    @cached_property
    def nodes(self) -> int:
        """How many nodes have to be read to score every candidate, when what they share is read once."""
        total, ways = 0, 1
        for choices, trie in zip(self.choices, self.places, strict=True):
            total += ways * sum(1 for children in trie.children if children)
            ways *= len(choices)
        return total

    def tokens(self, index: int) -> Tokens:
        """The tokens of a candidate after the prompt."""
        picked: list[Tokens] = []
        for choices in reversed(self.choices):
            index, choice = divmod(index, len(choices))
            picked.append(choices[choice])
        return tuple(token for tokens in reversed(picked) for token in tokens)


def spell(tokenizer: "PreTrainedTokenizerBase", form: CanaryFormat) -> Spelling:
    """The spelling of a format's candidates by a tokenizer, checked; InputError where it has none."""
    composed = _composed(tokenizer, form)
    if composed is not None:
        return composed
    if form.candidates > MOST_SPELLED:
        raise InputError(
            f"This tokenizer joins neighbouring characters of the secret, so each of {form.candidates:,} "
            f"candidates would have to be spelled by itself; make the holes smaller, for at most "
            f"{MOST_SPELLED:,}."
        )
    texts = [form.prefix + form.fill(index).secret for index in range(form.candidates)]
    return _explicit(_encode(tokenizer, texts))


def spell_listed(tokenizer: "PreTrainedTokenizerBase", prefix: str, secrets: Sequence[str]) -> Spelling:
    """The spelling of a list of candidates, such as twelve diagnoses; `secrets` begin with their space."""
    if len(secrets) < 2:
        raise InputError("A secret needs at least one other candidate to hide among.")
    return _explicit(_encode(tokenizer, [prefix + secret for secret in secrets]))


def _composed(tokenizer: "PreTrainedTokenizerBase", form: CanaryFormat) -> Spelling | None:
    """Choice by choice, each read off in front of a first candidate's others; None if neighbours matter."""
    places = form.choices
    (prompt,) = _encode(tokenizer, [form.prefix])
    before, found = form.prefix, []
    for choices in places:
        (known,) = _encode(tokenizer, [before])
        spelled = _encode(tokenizer, [before + choice for choice in choices])
        if any(tokens[: len(known)] != known or len(tokens) == len(known) for tokens in spelled):
            return None
        found.append(tuple(tokens[len(known) :] for tokens in spelled))
        before += choices[0]
    spelling = Spelling(prompt, tuple(found))
    return spelling if _holds(tokenizer, form, spelling) else None


def _holds(tokenizer: "PreTrainedTokenizerBase", form: CanaryFormat, spelling: Spelling) -> bool:
    """Whether every two neighbours, and whole candidates at random, are spelled as the parts say.

    For single characters under byte-pair merges the pairs decide: a merge over a border begins with two
    characters that stand side by side.
    """
    texts, wanted = [], []
    fixed = [choices[0] for choices in form.choices]
    for place in range(len(form.choices) - 1):
        start = "".join([form.prefix, *fixed[:place]])
        tokens = spelling.prompt + tuple(t for choices in spelling.choices[:place] for t in choices[0])
        first = zip(form.choices[place], spelling.choices[place], strict=True)
        second = list(zip(form.choices[place + 1], spelling.choices[place + 1], strict=True))
        for (a, spelled_a), (b, spelled_b) in product(first, second):
            texts.append(start + a + b)
            wanted.append(tokens + spelled_a + spelled_b)
    rng = random.Random(0)
    for _ in range(min(_CHECKED, form.candidates)):
        index = rng.randrange(form.candidates)
        texts.append(form.prefix + form.fill(index).secret)
        wanted.append(spelling.prompt + spelling.tokens(index))
    return _encode(tokenizer, texts) == wanted


def _explicit(spelled: list[Tokens]) -> Spelling:
    """One place with all candidates; what all share is the prompt."""
    shared = 0
    shortest = min(len(tokens) for tokens in spelled)
    while shared < shortest - 1 and len({tokens[shared] for tokens in spelled}) == 1:
        shared += 1
    if shared == 0:
        raise InputError("The tokenizer leaves nothing in front of the secret to ask by; write a prefix.")
    return Spelling(spelled[0][:shared], (tuple(tokens[shared:] for tokens in spelled),))


def _encode(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> list[Tokens]:
    encoded = tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True).input_ids
    return [tuple(tokens) for tokens in encoded]
