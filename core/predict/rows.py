"""Bringing a query's pmfs into the form that the protocols account for.

What comes in is read as float64. Tokens whose public probability is below `PUBLIC_FLOOR` are dropped for
every model, by the public pmf alone, and all rows are normalised again. A row that is not a pmf there (NaN,
negative, no mass on the public support) is faulty: it is replaced by the public pmf and marked, so that a
protocol treats its part as missing. Only a faulty public pmf is an error, since then there is no answer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import InputError
from core.privacy.curve import total
from core.privacy.renyi import Floats
from core.privacy.sampling import PUBLIC_FLOOR

_EXACT = 1e-13  # sums this near to one need no normalising


@dataclass(frozen=True, slots=True)
class Rows:
    """A query on the public support: `public` (S,), `rows` (..., S), `good` (...), and the way back.

    Rows in float64 are pmfs. Rows in float32 become pmfs when they are read, one by one: an array of all of
    them in float64 would be fetched from memory and back several times for every token.
    """

    public: Floats
    rows: NDArray[Any]
    good: NDArray[np.bool_]
    kept: NDArray[np.intp] | None
    vocabulary: int

    def masses(self, place: int, out: Floats) -> tuple[Floats, float]:
        """A row, in `out` or where it is, and its sum: the pmf is the one over the other."""
        row = self.rows[place]
        if row.dtype == np.float64:
            return row, 1.0
        np.copyto(out, row)
        return out, total(out)

    def pmf(self, place: int | tuple[int, ...], out: Floats) -> Floats:
        """A row's pmf, in `out` or where it is."""
        return as_pmf(self.rows[place], out)

    @property
    def pmfs(self) -> Floats:
        """All pmfs (..., S)."""
        return all_pmfs(self.rows)

    def spread(self, pmf: Floats) -> Floats:
        """A pmf on the support as one over the whole vocabulary."""
        if self.kept is None:
            return pmf
        whole = np.zeros(self.vocabulary)
        whole[self.kept] = pmf
        return whole


def as_pmf(row: NDArray[Any], out: Floats | None = None) -> Floats:
    """A row as a float64 pmf: itself where it is one, else normalised in float64, into `out`."""
    if row.dtype == np.float64:
        return row
    out = np.empty(row.shape) if out is None else out
    np.copyto(out, row)
    out *= 1.0 / total(out)
    return out


def all_pmfs(rows: NDArray[Any]) -> Floats:
    """Rows (..., S) as float64 pmfs, each to the last bit what `as_pmf` makes of it."""
    if rows.dtype == np.float64:
        return rows
    made = np.empty(rows.shape)
    for place in np.ndindex(rows.shape[:-1]):
        as_pmf(rows[place], made[place])
    return made


def read_rows(public: ArrayLike, rows: ArrayLike, shape: tuple[int, ...]) -> Rows:
    """Check, restrict and normalise one query; `shape` is what must stand before the vocabulary axis."""
    h0, models = np.asarray(public, np.float64), np.asarray(rows, np.float64)
    if h0.ndim != 1 or models.shape != (*shape, h0.size):
        wanted = ", ".join(str(n) for n in (*shape, "V"))
        raise InputError(f"The parts' pmfs must have the shape ({wanted}) beside a public pmf of shape (V,).")
    whole, least = h0.sum(), h0.min(initial=1.0)
    if not (least >= 0.0 and 0.5 < whole < 2.0):
        raise InputError("The public model gave no probability mass function: there is nothing to answer.")
    vocabulary, kept = h0.size, None
    if least < PUBLIC_FLOOR:
        kept = np.flatnonzero(h0 >= PUBLIC_FLOOR)
        h0, models = h0[kept], models[..., kept]
        whole = h0.sum()
    if abs(whole - 1.0) > _EXACT:
        h0 = h0 / whole
    return Rows(h0, *_normalise(models, h0), kept, vocabulary)


def _normalise(models: Floats, h0: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Each row is judged and divided by itself: another part's fault must not move even its last bit."""
    with np.errstate(all="ignore"):
        sums, least = models.sum(axis=-1), models.min(axis=-1)
        good = (sums > 0.0) & np.isfinite(sums) & (least >= 0.0)
        loose = ~(np.abs(sums - 1.0) <= _EXACT)
        if loose.any() or not good.all():
            models = models.copy()
            models[loose] /= sums[loose][:, None]
            good &= np.isfinite(models).all(axis=-1)
            models[~good] = h0
    return models, good
