"""Prediction protocols over pmfs: SubMix to the letter, StrictSubMix that is sound, and the baselines."""

from core.predict.decoding import Decoded, Decoding
from core.predict.noisy import GNMax, SubsampleAggregate
from core.predict.plain import Ensemble, FineTuned, PublicOnly
from core.predict.pmixed import PMixED
from core.predict.protocol import Protocol, Step
from core.predict.strict import StrictSubMix
from core.predict.submix import SubMix

PROTOCOLS: dict[str, type[Protocol]] = {
    "strict": StrictSubMix,
    "submix": SubMix,
    "pmixed": PMixED,
    "subsample-aggregate": SubsampleAggregate,
    "gnmax": GNMax,
    "public": PublicOnly,
    "ensemble": Ensemble,
    "finetuned": FineTuned,
}

__all__ = [
    "PROTOCOLS",
    "Decoded",
    "Decoding",
    "Ensemble",
    "FineTuned",
    "GNMax",
    "PMixED",
    "Protocol",
    "PublicOnly",
    "Step",
    "StrictSubMix",
    "SubMix",
    "SubsampleAggregate",
]
