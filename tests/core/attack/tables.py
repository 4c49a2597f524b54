"""A model that is a table: the law of the next token after every history, for tests with known answers."""

import numpy as np

from core.attack.ranking.reader import Place


class TableReader:
    """A reader whose law is a function of the tokens so far."""

    def __init__(self, law):
        self._law = law
        self.read = 0

    def start(self, prompt):
        self.read += len(prompt)
        return self._place(tuple(prompt))

    def extend(self, memories, tokens):
        assert len({len(memory) for memory in memories}) == 1
        self.read += len(tokens)
        return [self._place((*memory, token)) for memory, token in zip(memories, tokens, strict=True)]

    def _place(self, history):
        return Place(np.log(self._law(history)), history)


def random_law(vocabulary, seed, sharpness=1.0):
    """A different random law after every history, the same for the same seed."""

    def law(history):
        rng = np.random.default_rng([seed, len(history), *history])
        weights = rng.random(vocabulary) ** sharpness + 1e-9
        return weights / weights.sum()

    return law
