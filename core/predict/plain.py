"""Protocols without an account: the public model, and two that protect nothing, for comparison."""

from typing import Any

import numpy as np

from core.errors import InputError
from core.predict.protocol import Answer, Protocol
from core.predict.rows import Rows


class PublicOnly(Protocol):
    """The public model answers every query; the parts are not read and nothing is charged."""

    def quote(self, tokens: int) -> float:
        """Nothing."""
        return 0.0

    def _answer(self, query: Rows) -> Answer:
        return self._public_answer(query)


class _Unprotected(Protocol):
    """Answers that give away what they learned; refused unless the corpus was declared synthetic."""

    protected = False

    def __init__(self, parts: int, *args: Any, synthetic: bool = False, **kwargs: Any) -> None:
        if not synthetic:
            raise InputError(
                "Unprotected answers are for corpora declared synthetic only: they can recite what they read."
            )
        super().__init__(parts, *args, **kwargs)

    def quote(self, tokens: int) -> float:
        """No budget is kept: there is no protection to pay for."""
        return 0.0

    def _unprotected(self, query: Rows) -> Answer:
        return Answer(
            query.pmfs.mean(axis=0), np.ones(self.parts), np.zeros(self.parts), private=bool(query.good.any())
        )


class Ensemble(_Unprotected):
    """The plain mean of the parts' pmfs."""

    def _answer(self, query: Rows) -> Answer:
        return self._unprotected(query)


class FineTuned(_Unprotected):
    """One adapter trained on the whole corpus, as people do today; `step` takes its pmf as (1, V)."""

    shape = "whole"

    def _rows_shape(self) -> tuple[int, ...]:
        return (1,)

    def _answer(self, query: Rows) -> Answer:
        return self._unprotected(query)
