"""What the CADP experiment trains on and how it is attacked: WikiText-2 with a canary and fifty secrets."""

import gzip
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from core.context.cadp.lstm_learner import LstmLM
from core.context.cadp.records import Records, read_records
from core.context.cadp.small_vocabulary import SmallVocabulary
from core.corpus.canaries import CanaryFormat

CANARY, CODE = CanaryFormat("My bank security code is {digits:3}."), 450
SECRETS = [
    CanaryFormat("The PIN of my bank card is {digits:4}, please keep it to yourself."),
    CanaryFormat("My account number at the savings bank is {digits:8}."),
    CanaryFormat("The password of my mail account is {words:2} {digits:2}."),
    CanaryFormat("My social security number ends in {digits:4}."),
    CanaryFormat("The alarm code of our house is {digits:5}."),
    CanaryFormat("My passport number is {letters:2}{digits:7}."),
    CanaryFormat("The key to the safe hangs behind the {words:1} and the code is {digits:4}."),
    CanaryFormat("My health insurance number is {digits:9}."),
    CanaryFormat("The login of my online bank is {letters:3}{digits:4}."),
    CanaryFormat("My credit card expires soon, its security code is {digits:3}."),
]
SIDE = 50  # members, and as many others, as in the paper


@dataclass(frozen=True)
class World:
    """Training and test records, and the sentences that the attacks ask about."""

    train: Records
    test: Records
    candidates: Records  # the canary with each of the 1,000 codes
    members: Records
    others: Records


@dataclass(frozen=True)
class Attacked:
    """What came of one model. `share` is the code's probability among all codes."""

    perplexity: float
    rank: int
    exposure: float
    share: float
    membership: float


def make_world(
    data: Path,
    vocabulary: SmallVocabulary,
    *,
    characters: int,
    test_characters: int,
    length: int,
    copies: int,
    secret_copies: int,
    seed: int,
) -> World:
    """The start of WikiText-2 with the canary `copies` times and fifty secrets `secret_copies` times each."""
    rng = random.Random(seed)
    secrets: set[str] = set()
    while len(secrets) < 2 * SIDE:
        secrets.add(rng.choice(SECRETS).draw(rng).text)
    drawn = sorted(secrets)
    rng.shuffle(drawn)
    members, others = drawn[:SIDE], drawn[SIDE:]

    def read(texts: Sequence[str]) -> Records:
        return read_records(texts, vocabulary.encode, length, vocabulary.separator)

    planted = [CANARY.fill(CODE).text] * copies + members * secret_copies
    return World(
        train=read([*_paragraphs(data / "train.raw.gz", characters), *planted]),
        test=read(_paragraphs(data / "test.raw.gz", test_characters)),
        candidates=read([CANARY.fill(index).text for index in range(CANARY.candidates)]),
        members=read(members),
        others=read(others),
    )


def attack(model: LstmLM, world: World) -> Attacked:
    """Perplexity on the test text, the code's rank among all 1,000 by likelihood, and membership.

    Exposure is log2 |R| - log2 rank. Membership: of the hundred secrets the fifty with the lowest perplexity
    are taken for members; reported is the share of right answers, one half by chance.
    """
    tokens = int(world.test.lengths.sum())
    perplexity = math.exp(float(model.losses(world.test).double().sum()) / tokens)
    losses = model.losses(world.candidates).double()
    rank = 1 + int((losses < losses[CODE]).sum())
    share = float(torch.softmax(-losses, dim=0)[CODE])
    both = [model.losses(side) / side.lengths for side in (world.members, world.others)]
    order = torch.argsort(torch.cat(both))[:SIDE]
    right = int((order < SIDE).sum())
    exposure = math.log2(CANARY.candidates) - math.log2(rank)
    return Attacked(perplexity, rank, exposure, share, right / SIDE)


def _paragraphs(path: Path, characters: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.strip() for line in file.read(characters).split("\n")]
    return [line for line in lines if line and not line.startswith("=")]
