"""The slider's scale: epsilons in steps that grow as they do, and what each means in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.address import AddressField
from core.sanitizing import Stays

EPSILONS = (
    1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 10.0, 11.0, 12.0,
    13.0, 14.0, 15.0, 17.0, 20.0, 23.0, 26.0, 29.0, 35.0, 41.0, 47.0, 52.0, 60.0, 80.0, 100.0,
)  # fmt: skip
FIRST = EPSILONS.index(8.0)  # where the page opens


def epsilon_at(step: float) -> float:
    """The epsilon of a step of the slider."""
    return EPSILONS[min(max(round(step), 0), len(EPSILONS) - 1)]


def step_of(epsilon: float) -> int:
    """The step nearest to an epsilon."""
    return min(range(len(EPSILONS)), key=lambda step: abs(EPSILONS[step] - epsilon))


@dataclass(frozen=True)
class EpsilonField(AddressField):
    """The slider in the address: the address has the epsilon, the slider its step."""

    def read(self, params: Mapping[str, str]) -> float | int | None:
        """The step of the epsilon in the address."""
        epsilon = super().read(params)
        return None if epsilon is None else step_of(float(epsilon))


def in_words(stays: Stays) -> str:
    """What the chances mean, in a sentence."""
    return f"A common word stays itself {how_often(stays.words)}, a number {how_often(stays.numbers)}."


def how_often(chance: float) -> str:
    """A chance as people say it."""
    if chance < 0.01:
        return "hardly ever"
    if chance < 0.075:
        return f"about {_times(chance * 100)} in 100"
    if chance > 0.99:
        return "nearly always"
    if chance > 0.925:
        return f"about {round(chance * 100)} times in 100"
    return f"about {_times(chance * 10)} in 10"


def _times(count: float) -> str:
    return "once" if round(count) == 1 else f"{round(count)} times"


def in_short(stays: Stays) -> str:
    """Where on the scale one is."""
    for least, words in _SHORT:
        if stays.words > least:
            return words
    return "Nearly all words change"


_SHORT = (
    (0.9, "Nearly all words stay"),
    (0.6, "Some words change"),
    (0.3, "About half of the words change"),
    (0.05, "Most words change"),
)
