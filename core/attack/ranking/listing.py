"""Scoring many candidates after one prompt; beginnings that they share are read once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.attack.ranking.reader import Place, Reader
from core.attack.ranking.search import BATCH
from core.attack.ranking.spelling import Node, Spelling, Tokens
from core.attack.watch import SILENT, Watch
from core.privacy.renyi import Floats


class _Open(NamedTuple):
    """A branch that is to be read next."""

    node: Node
    token: int
    memory: Any
    path: Tokens
    so_far: float


def enumerate_all(
    reader: Reader, spelling: Spelling, *, batch: int = BATCH, watch: Watch = SILENT
) -> Iterator[tuple[Tokens, float]]:
    """Every candidate with its total log-likelihood, depth first, so that few branches wait at a time."""
    begun, total = reader.read, spelling.nodes + len(spelling.prompt)
    waiting: list[_Open] = []

    def open_up(place: Place, node: Node, path: Tokens, so_far: float) -> Iterator[tuple[Tokens, float]]:
        for token, child in spelling.steps(node):
            score = so_far + float(place.log_law[token])
            if child is None:
                yield (*path, token), score
            else:
                waiting.append(_Open(child, token, place.memory, (*path, token), score))

    yield from open_up(reader.start(spelling.prompt), spelling.root, (), 0.0)
    while waiting:
        watch.at((reader.read - begun) / total, "reading every candidate")
        taken = [waiting.pop()]
        while waiting and len(waiting[-1].path) == len(taken[0].path) and len(taken) < batch:
            taken.append(waiting.pop())
        places = reader.extend([branch.memory for branch in taken], [branch.token for branch in taken])
        for branch, place in zip(taken, places, strict=True):
            yield from open_up(place, branch.node, branch.path, branch.so_far)


def score_listed(
    reader: Reader,
    prompt: Sequence[int],
    listed: Sequence[Tokens],
    *,
    batch: int = BATCH,
    watch: Watch = SILENT,
) -> Floats:
    """The total log-likelihoods of these candidates, read level by level."""
    totals = np.zeros(len(listed))
    place = reader.start(prompt)
    memories: dict[Tokens, Any] = {(): place.memory}
    _add(totals, place, [(n, tokens[0]) for n, tokens in enumerate(listed)])
    for depth in range(1, max(len(tokens) for tokens in listed)):
        going_on: dict[Tokens, list[int]] = {}
        for number, tokens in enumerate(listed):
            if depth < len(tokens):
                going_on.setdefault(tokens[:depth], []).append(number)
        paths, before, memories = list(going_on), memories, {}
        for start in range(0, len(paths), batch):
            watch.at(start / len(paths), f"reading sampled candidates, token {depth}")
            now = paths[start : start + batch]
            places = reader.extend([before[path[:-1]] for path in now], [path[-1] for path in now])
            for path, place in zip(now, places, strict=True):
                memories[path] = place.memory
                _add(totals, place, [(n, listed[n][depth]) for n in going_on[path]])
    return totals


def _add(totals: Floats, place: Place, asked: Sequence[tuple[int, int]]) -> None:
    for number, token in asked:
        totals[number] += place.log_law[token]
