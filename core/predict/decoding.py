"""Temperature and truncation, applied to every model before any weight is chosen.

Neither is post-processing: a mixture that is sharpened or cut afterwards is another law than the one that
was accounted. So each model's pmf is tempered by itself, and the support (top-k, nucleus, public floor) is
read off the tempered public pmf alone; every model is restricted to it and normalised.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.predict.rows import Rows, all_pmfs, as_pmf
from core.privacy.renyi import Floats
from core.privacy.sampling import PUBLIC_FLOOR

if TYPE_CHECKING:
    import torch

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Decoded:
    """What all models say on the public support: `rows` (models, S) with the public one first.

    Rows in float64 are pmfs; rows in float32 are exponentials that become pmfs when they are read.
    `tokens` names the S tokens; None means the whole vocabulary in its order.
    """

    rows: NDArray[Any]
    tokens: Indices | None = None

    @cached_property
    def public(self) -> Floats:
        """The public pmf (S,)."""
        return as_pmf(self.rows[0])

    @property
    def pmfs(self) -> Floats:
        """The pmfs of all models (models, S)."""
        return all_pmfs(self.rows)

    def query(self, shape: str = "parts") -> Rows:
        """What a protocol of that shape reads: the other models' pmfs (models - 1, S), or halves (k, 2, S).

        They are normalised already, or when they are read. A model whose logits were no numbers has no pmf,
        not even at its first token: it is marked as faulty, and the public pmf stands in its place.
        """
        rows = self.rows[1:]
        good = np.isfinite(rows[:, 0])
        if not good.all():
            rows = np.where(good[:, None], all_pmfs(rows), self.public)
        if shape == "halves":
            rows, good = rows.reshape(-1, 2, rows.shape[1]), good.reshape(-1, 2)
        return Rows(self.public, rows, good, None, self.public.size)

    def token(self, index: int) -> int:
        """The vocabulary's token for an index into the support."""
        return int(index if self.tokens is None else self.tokens[index])


@dataclass(frozen=True, slots=True)
class Decoding:
    """How to turn logits into pmfs. Greedy and beam search have no law to account for and are refused."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.temperature < float("inf"):
            raise InputError(
                "The temperature must be above 0: greedy answers have no probability law to account for. "
                "Choose for example 0.7, or ask the public model."
            )
        if self.top_k is not None and self.top_k < 1:
            raise InputError("Top-k must keep at least one token.")
        if not 0.0 < self.top_p <= 1.0:
            raise InputError("Top-p must lie above 0 and at most at 1.")

    def from_logits(self, logits: "NDArray[Any] | torch.Tensor") -> Decoded:
        """Logits (models, V), the public model first, as pmfs.

        Exponentials of float32 logits are taken in float32 (they carry no more digits) and normalised in
        float64. The values so made are the pmfs, to the last bit, for weights, losses and sampling alike.
        """
        if logits.ndim != 2 or 0 in logits.shape:
            raise InputError("Logits must have the shape (models, vocabulary).")
        with np.errstate(all="ignore"):
            decoded = Decoded(_softmax(logits, 1.0 / self.temperature))
            tokens = self.support(decoded.public)
            if tokens is None:
                return decoded
            return Decoded(_softmax(logits[:, tokens], 1.0 / self.temperature), tokens)

    def pmfs(self, logits: "NDArray[Any] | torch.Tensor") -> Floats:
        """The same as pmfs over the whole vocabulary (models, V), zero outside the support."""
        decoded = self.from_logits(logits)
        if decoded.tokens is None:
            return decoded.pmfs
        whole = np.zeros((len(decoded.rows), logits.shape[1]))
        whole[:, decoded.tokens] = decoded.pmfs
        return whole

    def from_pmfs(self, pmfs: NDArray[Any]) -> Decoded:
        """The same from pmfs (models, V)."""
        with np.errstate(all="ignore"):
            return self.from_logits(np.log(np.asarray(pmfs, np.float64)))

    def support(self, public: Floats) -> Indices | None:
        """The tokens to keep, from the tempered public pmf alone; None keeps all."""
        least = public.min()
        if not least >= 0.0:  # normalised it is, unless it is NaN
            raise InputError(
                "The public model gave no probability mass function: there is nothing to answer."
            )
        if least >= PUBLIC_FLOOR and self.top_k is None and self.top_p == 1.0:
            return None
        kept = np.flatnonzero(public >= PUBLIC_FLOOR)
        if self.top_k is not None and self.top_k < kept.size:
            best = np.argpartition(-public[kept], self.top_k - 1)[: self.top_k]
            kept = np.sort(kept[best])
        if self.top_p < 1.0:
            ordered = kept[np.argsort(-public[kept], kind="stable")]
            reached = np.cumsum(public[ordered])
            count = int(np.searchsorted(reached, self.top_p * reached[-1])) + 1
            kept = np.sort(ordered[:count])
        return None if kept.size == public.size else kept


def _softmax(logits: "NDArray[Any] | torch.Tensor", sharpness: float) -> NDArray[Any]:
    """exp(sharpness x) of each row: pmfs in float64, or for tensors float32 of a sum near one."""
    if isinstance(logits, np.ndarray):
        own = logits if logits.dtype in (np.float32, np.float64) else logits.astype(np.float64)
        scaled = (own - own.max(axis=1, keepdims=True)) * own.dtype.type(sharpness)
        pmfs = np.exp(scaled).astype(np.float64, copy=False)
        pmfs *= 1.0 / pmfs.sum(axis=1, keepdims=True)
        return pmfs
    import torch

    rows = logits.detach().cpu().float()
    if sharpness != 1.0:
        rows = (rows - rows.amax(dim=1, keepdim=True)).mul_(sharpness)
    with torch.inference_mode():
        return np.asarray(torch.softmax(rows, dim=1).numpy())
