"""Word vectors, the mechanisms that perturb words with them, and the policies that say which words.

    vocabulary = load_vocabulary(EMBEDDED, settings)
    mechanism = make_mechanism("euclidean", vocabulary, epsilon=12.0)
    result = sanitize("My ID is 145572.", mechanism, Digits())

MDP (Feyisetan et al. 2020) is the policy `AllWords`; SMDP (Maratkhan 2023, Algorithm 1) is any other.
"""

from core.sanitize.calibrate import Calibration, StayCurve, WordCalibration, calibrate, epsilon_for
from core.sanitize.document import Piece, Sanitized, sanitize
from core.sanitize.files import ENDINGS, Cancelled, FileProgress, FileReport, sanitize_file
from core.sanitize.mechanism import NOISES, Mechanism, Replacement, make_mechanism
from core.sanitize.noise import fresh_generator
from core.sanitize.policy import (
    POLICIES,
    AllWords,
    Context,
    Digits,
    Either,
    OwnWords,
    Policy,
    parse_policies,
)
from core.sanitize.spans import Span
from core.sanitize.vectors import load_vectors
from core.sanitize.vocabulary import Vocabulary, load_vocabulary

__all__ = [
    "ENDINGS",
    "NOISES",
    "POLICIES",
    "AllWords",
    "Calibration",
    "Cancelled",
    "Context",
    "Digits",
    "Either",
    "FileProgress",
    "FileReport",
    "Mechanism",
    "OwnWords",
    "Piece",
    "Policy",
    "Replacement",
    "Sanitized",
    "Span",
    "StayCurve",
    "Vocabulary",
    "WordCalibration",
    "calibrate",
    "epsilon_for",
    "fresh_generator",
    "load_vectors",
    "load_vocabulary",
    "make_mechanism",
    "parse_policies",
    "sanitize",
    "sanitize_file",
]
