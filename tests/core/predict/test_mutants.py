import importlib

import pytest

from tests.core.predict.mutants import MUTANTS, Mutant, survives


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_is_caught(mutant: Mutant):
    assert not survives(mutant)


def test_the_tests_that_catch_them_pass_on_the_real_code():
    for caught_by in sorted({mutant.caught_by for mutant in MUTANTS}):
        module, function = caught_by.split(":")
        getattr(importlib.import_module(module), function)()


def test_there_are_at_least_twelve_and_each_has_its_own_name():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12
