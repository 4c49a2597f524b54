"""Pmfs for tests: random, peaked, and by hypothesis with zeros, tiny and subnormal entries."""

import numpy as np
from hypothesis import strategies as st

masses = st.one_of(
    st.floats(0.0, 1.0, allow_subnormal=True),
    st.sampled_from([0.0, 5e-324, 1e-310, 1e-200, 1e-30, 1e-12, 1.0]),
)


@st.composite
def pmf_pairs(draw, positive=False, least=2, most=6):
    size = draw(st.integers(least, most))
    values = st.floats(1e-6, 1.0) if positive else masses
    rows = draw(st.lists(st.lists(values, min_size=size, max_size=size), min_size=2, max_size=2))
    made = []
    for row in rows:
        total = sum(row)
        made.append(np.array(row) / total if total > 1e-3 else np.full(size, 1.0 / size))
    return made[0], made[1]


def language_like(rows: int, vocabulary: int, seed: int, spread: float = 0.7) -> np.ndarray:
    """A public pmf in row 0 and fine-tuned relatives below it."""
    generator = np.random.default_rng(seed)
    base = generator.standard_normal(vocabulary) * 3.0
    logits = np.stack([base] + [base + spread * generator.standard_normal(vocabulary) for _ in range(rows)])
    pmfs = np.exp(logits - logits.max(axis=1, keepdims=True))
    return pmfs / pmfs.sum(axis=1, keepdims=True)
