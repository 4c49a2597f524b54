"""Tests of what is still in the making: they are known to fail or not yet trusted, and say why."""

UNFINISHED = {
    "tests/browser/test_detect.py::test_the_same_number": "the head misses the canary behind some sentences",
    "tests/core/context/test_detector.py::test_no_secret_is_lost_at_any_edge": "the head misses a password",
    "tests/core/context/test_detector.py::test_pieces_of_a_long_sentence": "the head misses a buried canary",
    "tests/core/context/test_evaluate.py::test_the_shipped_detector_is_good_enough": (
        "held-out recall is below 95 %: the card says how far"
    ),
}


def reason(nodeid: str) -> str | None:
    """Why a test is not counted yet, or None where it is."""
    return next((why for start, why in UNFINISHED.items() if nodeid.startswith(start)), None)
