"""Tests of what is still in the making: they are known to fail or not yet trusted, and say why."""

UNFINISHED = {
    "tests/core/context/test_detector.py": "the detector's head is not final",
    "tests/core/context/test_evaluate.py": "the detector's head is not final and has no card",
}


def reason(nodeid: str) -> str | None:
    """Why a test is not counted yet, or None where it is."""
    return next((why for start, why in UNFINISHED.items() if nodeid.startswith(start)), None)
