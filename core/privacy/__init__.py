"""Pure mathematics of privacy: arrays in, numbers out. No model, no database."""

from core.privacy.conversions import extraction_bound, partition_to_user, rdp_to_dp, rdp_to_dp_mironov
from core.privacy.renyi import renyi_divergence, symmetric_renyi
from core.privacy.sampling import PUBLIC_FLOOR, SLACK, sample
from core.privacy.strict import strict_loss, strict_weight

__all__ = [
    "PUBLIC_FLOOR",
    "SLACK",
    "extraction_bound",
    "partition_to_user",
    "rdp_to_dp",
    "rdp_to_dp_mironov",
    "renyi_divergence",
    "sample",
    "strict_loss",
    "strict_weight",
    "symmetric_renyi",
]
