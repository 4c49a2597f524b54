"""Tests of what is still in the making: they are known to fail or not yet trusted, and say why."""

UNFINISHED = {
    "tests/core/attack/test_attackers.py::test_the_unprotected_model_recites": "attack engine",
    "tests/core/attack/test_audit.py::test_the_bound_rises_above_the_nominal_in_a_broken_build[STOP": (
        "attack engine"
    ),
    "tests/core/attack/test_canary_run.py": "attack engine",
    "tests/core/attack/test_intervals.py": "attack engine: intervals of means cover a little too rarely",
    "tests/core/attack/test_membership.py::test_a_model_that_memorised_one_side": "attack engine",
    "tests/core/attack/test_reconstruction.py::test_at_a_huge_epsilon": "the Bayes attacker against TEM",
    "tests/core/attack/test_spelling.py::test_digits_that_stand_alone": "attack engine",
    "tests/core/context/test_detector.py": "the detector's head is not final",
    "tests/core/context/test_evaluate.py": "the detector's head is not final and has no card",
}


def reason(nodeid: str) -> str | None:
    """Why a test is not counted yet, or None where it is."""
    return next((why for start, why in UNFINISHED.items() if nodeid.startswith(start)), None)
