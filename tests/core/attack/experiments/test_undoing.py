"""Undoing sanitised text as a run: both attackers on both texts."""

from dataclasses import replace

import pytest

from core.attack.conduct import conduct
from core.attack.experiments.reconstruction import ReconstructionPlan, prepare_reconstruction
from core.errors import InputError
from tests.core.attack.mechanisms import small_mechanism


def test_reconstruction_is_a_run_with_both_attackers_on_both_texts(tiny, settings):
    plan = ReconstructionPlan("the night nurse wrote 12 and 47", 500.0, most=4)
    run = conduct(settings, prepare_reconstruction(small_mechanism(500.0), lambda: tiny, seed=0, plan=plan))
    assert run.status == "finished"
    assert len(run.outcome.findings) == 4
    assert {each.total for each in run.outcome.findings} == {2, 4}
    assert max(each.value for each in run.outcome.findings) == 1.0
    assert "names 2 of 2 perturbed words" in run.outcome.verdict[0]
    with pytest.raises(InputError, match="nothing can be undone"):
        prepare_reconstruction(
            small_mechanism(5.0),
            lambda: tiny,
            seed=0,
            plan=replace(plan, text="no number", targets=("smdp",)),
        )
