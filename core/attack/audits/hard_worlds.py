"""Worlds that are hard for a protocol: each is near the worst case that one piece of its account pays for.

In each of them the sound protocol stays below epsilon, and a build in which that piece is missing does not.
"""

import numpy as np

from core.attack.audits.games import Side, World, fixed
from core.predict import PMixED, Protocol, StrictSubMix, SubMix

EPSILON, ALPHA = 1.0, 2.0


def strict_worlds() -> tuple[World, ...]:
    """For StrictSubMix; the part in question is the first."""
    return (
        _strict("alone against the crowd", 8, 0.5, *_alone(8)),
        _strict("a token that the part never says", 2, 0.99, [0.5, 0.5], [[0.0, 1.0], [0.0, 1.0]]),
        _strict("an outlier among parts that agree", 8, 0.5, *_outlier(8)),
        _strict("more questions than planned", 8, 0.5, *_alone(8), steps=3),
        _strict("a large vocabulary", 2, 0.5, *_many_tokens()),
        _strict("a part that would say it all", 4, 0.1, *_alone(4, 0.036)),
    )


def pmixed_worlds() -> tuple[World, ...]:
    """For PMixED, over the same models."""
    public, parts = _alone(8)
    return (_pair("alone against the crowd", PMixED(8, EPSILON, ALPHA, 1), public, parts, 1),)


def submix_worlds() -> tuple[World, ...]:
    """For SubMix as the paper has it, where only the first part differs from the public model.

    There its account is right; `core.attack.audits.stop` has the world in which it is not.
    """
    sudden = [0.99, 0.01], [[0.01, 0.99], [0.99, 0.01], [0.99, 0.01]]
    steady = [0.95, 0.05], [[0.2, 0.8], [0.95, 0.05], [0.95, 0.05]]
    return (
        _submix("one answer that nobody can pay", *sudden, steps=1),
        _submix("answers until the budget ends", *steady, steps=6),
    )


def _alone(parts: int, rare: float = 0.004) -> tuple[list[float], list[list[float]]]:
    """The first part is sure of a rare token; all others are sure that it does not come."""
    return [rare, 1.0 - rare], [[1.0, 0.0], *[[0.0, 1.0]] * (parts - 1)]


def _outlier(parts: int) -> tuple[list[float], list[list[float]]]:
    """The first part is sure of the rarest token, so that its own weight is small; the others agree."""
    return [0.02, 0.98 - 1e-6, 1e-6], [[0.0, 0.0, 1.0], *[[0.99, 0.01 - 1e-6, 1e-6]] * (parts - 1)]


def _many_tokens() -> tuple[list[float], list[list[float]]]:
    public = np.array([0.02, *[0.98 / 15] * 15])
    crowd = np.array([0.0, *[1.0 / 15] * 15])
    return public.tolist(), [[1.0, *[0.0] * 15], crowd.tolist()]


def _strict(
    name: str, parts: int, w_max: float, public: list[float], models: list[list[float]], steps: int = 1
) -> World:
    return _pair(name, StrictSubMix(parts, EPSILON, ALPHA, 1, w_max=w_max), public, models, steps)


def _pair(name: str, protocol: Protocol, public: list[float], models: list[list[float]], steps: int) -> World:
    """In the world without the part, the public model answers in its place."""
    missing = [public, *models[1:]]
    return World(name, Side(protocol, fixed(public, models)), Side(protocol, fixed(public, missing)), steps)


def _submix(name: str, public: list[float], models: list[list[float]], steps: int) -> World:
    """In the world without the part there is one part less."""
    full, rest = (SubMix(k, EPSILON, ALPHA, 4) for k in (len(models), len(models) - 1))
    return World(
        name,
        Side(full, fixed(public, models, halves=True)),
        Side(rest, fixed(public, models[1:], halves=True)),
        steps,
    )
