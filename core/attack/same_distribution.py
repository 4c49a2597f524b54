"""Are members and non-members the same kind of text? If not, a membership score measures the difference.

A classifier on words and length is trained to tell the two sides apart, without any model under attack. If it
can, by its area on texts that it was not trained on, then so can every score, memorised or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.attack.intervals import Interval
from core.attack.roc import area_interval

_FOLDS = 5
_MARGIN = 0.05  # a lower limit this far above chance is a difference; the interval is of dependent scores


@dataclass(frozen=True)
class Difference:
    """How well words and length alone tell the sides apart: 0.5 is not at all."""

    area: Interval

    @property
    def found(self) -> bool:
        """Whether the sides differ by more than chance."""
        return self.area.low > 0.5 + _MARGIN

    @property
    def sentence(self) -> str:
        """What that means for the result."""
        if not self.found:
            return (
                "Members and non-members look alike: their words and length alone tell them apart with an "
                f"area of {self.area.value:.2f}, where 0.5 is chance."
            )
        return (
            "Members and non-members are not from the same distribution: their words and length alone tell "
            f"them apart with an area of {self.area.value:.2f}, without any model. The areas below measure "
            "that difference too, so they say little about memorisation."
        )


def differ(members: Sequence[str], others: Sequence[str], rng: np.random.Generator) -> Difference:
    """Cross-validated area of a logistic regression on bags of words and log length."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    texts = [*members, *others]
    label = np.array([1] * len(members) + [0] * len(others))
    lengths = np.log([[1.0 + len(text), 1.0 + len(text.split())] for text in texts])
    lengths = (lengths - lengths.mean(axis=0)) / (lengths.std(axis=0) + 1e-9)
    words = HashingVectorizer(n_features=2**14, alternate_sign=False).transform(texts)
    features = hstack([words, csr_matrix(lengths)]).tocsr()
    score = np.zeros(len(texts))
    folds = StratifiedKFold(
        min(_FOLDS, len(members), len(others)), shuffle=True, random_state=int(rng.integers(2**31))
    )
    for train, test in folds.split(features, label):
        model = LogisticRegression(C=1.0, max_iter=500).fit(features[train], label[train])
        # Each fold has a scale of its own: ranks within the fold are comparable across folds.
        margin = model.decision_function(features[test])
        score[test] = margin - np.median(margin)
    return Difference(area_interval(score[label == 1], score[label == 0], rng))
