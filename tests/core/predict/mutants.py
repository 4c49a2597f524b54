"""Mistakes that private prediction is prone to, each with the test that must notice it.

A mutant is a patch of the real code and the name of a plain test function. The harness applies the patch,
runs that test and demands that it fails. To add one, write a function that takes pytest's `monkeypatch` and
append a `Mutant` to `MUTANTS`; other test modules may run lists of their own with `survives`.
"""

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from core.predict import Decoding, StrictSubMix, SubMix
from core.predict import protocol as protocol_module
from core.predict import strict as strict_module
from core.predict.decoding import Decoded
from core.predict.protocol import Protocol
from core.privacy import sampling
from core.privacy import strict as mathematics
from core.privacy.curve import Curve
from core.privacy.strict import StrictRule
from core.privacy.units import loss_units

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A mistake, how to make it, and the test that catches it ("module:function")."""

    name: str
    patch: Patch
    caught_by: str


def survives(mutant: Mutant) -> bool:
    """Whether the named test still passes with the mistake in place."""
    module, function = mutant.caught_by.split(":")
    test = getattr(importlib.import_module(module), function)
    with pytest.MonkeyPatch.context() as monkeypatch:
        mutant.patch(monkeypatch)
        try:
            test()
        except AssertionError:
            return False
    return True


def charge_after_answer(patch: pytest.MonkeyPatch) -> None:
    def check_before(self, losses):
        units = loss_units(np.broadcast_to(losses, (self.parts,)))
        return np.minimum(units, self._left), bool(np.all(self._left > 0))

    patch.setattr(Protocol, "_affordable", check_before)


def vocabulary_for_parts(patch: pytest.MonkeyPatch) -> None:
    def counted(public, k, w_max, alpha, **_):
        return StrictRule(public, len(public), w_max, alpha)

    patch.setattr(strict_module, "StrictRule", counted)


def single_precision(patch: pytest.MonkeyPatch) -> None:
    weigh = StrictRule.weigh

    def rough(self, part, *rest):
        return weigh(self, part.astype(np.float32).astype(np.float64), *rest)

    patch.setattr(StrictRule, "weigh", rough)


def one_sided(patch: pytest.MonkeyPatch) -> None:
    both = Curve.both
    patch.setattr(Curve, "both", lambda self, t: (both(self, t)[0], 0.0))


def other_side_only(patch: pytest.MonkeyPatch) -> None:
    both = Curve.both
    patch.setattr(Curve, "both", lambda self, t: (0.0, both(self, t)[1]))
    patch.setattr(Curve, "_polynomial", lambda self, t: 0.0)


def temperature_after_mixing(patch: pytest.MonkeyPatch) -> None:
    answer = StrictSubMix._answer

    def sharpened(self, query):
        made = answer(self, query)
        return made._replace(pmf=made.pmf**2 / (made.pmf**2).sum())

    patch.setattr(StrictSubMix, "_answer", sharpened)


def support_from_the_mixture(patch: pytest.MonkeyPatch) -> None:
    def mixed(self, logits):
        rows = np.exp(logits - logits.max(axis=1, keepdims=True))
        rows /= rows.sum(axis=1, keepdims=True)
        tokens = self.support(rows.mean(axis=0))
        kept = rows if tokens is None else rows[:, tokens]
        return Decoded(kept / kept.sum(axis=1, keepdims=True), tokens)

    patch.setattr(Decoding, "from_logits", mixed)


def check_with_any(patch: pytest.MonkeyPatch) -> None:
    def any_below(self, losses):
        units = loss_units(np.broadcast_to(losses, (self.parts,)))
        after = self._left - units
        return np.where(after > 0, units, self._left), not bool(np.any(after <= 0))

    patch.setattr(Protocol, "_affordable", any_below)


def cap_not_enforced(patch: pytest.MonkeyPatch) -> None:
    class Uncapped(StrictRule):
        def __init__(self, *arguments, **named) -> None:
            super().__init__(*arguments, **named)
            self.w_max, self._cap = 1.0, 1.0 / self._scale

    patch.setattr(strict_module, "StrictRule", Uncapped)


def weight_from_all_parts(patch: pytest.MonkeyPatch) -> None:
    weigh = StrictRule.weigh

    def levelled(self, *arguments):
        weight, loss = weigh(self, *arguments)
        self.least = min(weight, getattr(self, "least", weight))
        return self.least, loss

    patch.setattr(StrictRule, "weigh", levelled)


def seed_in_the_sampler(patch: pytest.MonkeyPatch) -> None:
    class Seeded:
        def __init__(self) -> None:
            self.count = 0

        def randbelow(self, n: int) -> int:
            self.count += 1
            return random.Random(self.count % 8).randrange(n)

    patch.setattr(sampling, "secrets", Seeded())


def stop_forgotten(patch: pytest.MonkeyPatch) -> None:
    answer = SubMix._answer

    def forgetful(self, query):
        self.stopped = False
        self._left = np.full(self.parts, float(self._budget))
        return answer(self, query)

    patch.setattr(SubMix, "_answer", forgetful)


def no_slack(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(strict_module, "SLACK", 0.0)


def others_never_mix(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mathematics, "base_share", lambda k, w_max: 1.0)


def allowance_without_remainder(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        StrictSubMix, "_allowed_units", lambda self: np.full(self.parts, float(self._budget // self.queries))
    )


def a_chance_for_every_token(patch: pytest.MonkeyPatch) -> None:
    integer_parts = sampling.integer_parts

    def generous(pmf):
        high, low = integer_parts(pmf)
        return high, np.maximum(low, 1)

    patch.setattr(sampling, "integer_parts", generous)


def losses_rounded_down(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(strict_module, "loss_units", lambda losses: np.floor(losses * 1e12 - 1e3))
    patch.setattr(protocol_module, "loss_units", lambda losses: np.floor(losses * 1e12 - 1e3))


STRICT = "tests.core.predict.test_strict:"
SUBMIX = "tests.core.predict.test_submix:"
DECODING = "tests.core.predict.test_decoding:"
SAMPLING = "tests.core.privacy.test_sampling:"

MUTANTS = [
    Mutant("charge after the answer", charge_after_answer, SUBMIX + "test_debits_before_it_answers"),
    Mutant(
        "len(vocab) for k",
        vocabulary_for_parts,
        STRICT + "test_losses_count_parts_and_not_tokens_and_include_the_slack",
    ),
    Mutant(
        "float32 losses",
        single_precision,
        STRICT + "test_losses_at_the_cap_agree_with_the_formula_to_eleven_digits",
    ),
    Mutant("one-sided loss", one_sided, STRICT + "test_the_worst_others_are_paid_for"),
    Mutant("the other side only", other_side_only, STRICT + "test_the_worst_others_are_paid_for"),
    Mutant(
        "temperature after mixing",
        temperature_after_mixing,
        STRICT + "test_tempered_pmfs_are_accounted_as_they_are_sampled",
    ),
    Mutant(
        "support from the mixture",
        support_from_the_mixture,
        DECODING + "test_support_comes_from_the_public_pmf_alone",
    ),
    Mutant(
        "check with any(<=)", check_with_any, SUBMIX + "test_a_loss_that_is_not_a_number_closes_the_budget"
    ),
    Mutant("w_max not enforced", cap_not_enforced, STRICT + "test_no_part_exceeds_w_max"),
    Mutant(
        "other parts' data in a weight",
        weight_from_all_parts,
        STRICT + "test_weight_and_loss_of_a_part_ignore_the_others",
    ),
    Mutant("seed in the sampler", seed_in_the_sampler, SAMPLING + "test_two_runs_differ"),
    Mutant("STOP forgotten", stop_forgotten, SUBMIX + "test_stop_is_sticky"),
    Mutant("no slack", no_slack, STRICT + "test_losses_include_the_slack"),
    Mutant("kappa of others who never mix", others_never_mix, STRICT + "test_the_worst_others_are_paid_for"),
    Mutant(
        "allowance without the remainder",
        allowance_without_remainder,
        STRICT + "test_an_exhausted_part_fades_without_a_charge",
    ),
    Mutant(
        "a chance for every token",
        a_chance_for_every_token,
        SAMPLING + "test_zero_probability_tokens_never_come",
    ),
    Mutant(
        "losses rounded down",
        losses_rounded_down,
        STRICT + "test_losses_include_the_slack",
    ),
]
