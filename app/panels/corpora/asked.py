"""What the controls say, as the core understands it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.catalogue import LONGEST_NAME
from core.curator.uploads import Reading
from core.errors import InputError

if TYPE_CHECKING:
    from core.ensembles import Plan

WHOLE_PASSES = 2  # times the passes of a part: the one model that is shown to leak
_BATCH, _RANK = 2, 8  # as the command line trains


@dataclass(frozen=True)
class Wanted:
    """The plan, and whether the curator declared that guarantees add up."""

    plan: "Plan"
    guarantees_add: bool


def reading_from(values: Sequence[Any]) -> Reading:
    """How the text is read, in the order of the layout."""
    user, text, each, synthetic = values
    return Reading(
        user_column=str(user or "").strip() or None,
        text_column=str(text or "").strip() or None,
        each_document_a_user=bool(each),
        synthetic=bool(synthetic),
    )


def plan_from(values: Sequence[Any], *, most_layers: int | None = None) -> Wanted:
    """What is planned, in the order of the layout; an emptied field is a sentence."""
    from core.ensembles import Plan
    from core.lm.stack import LoraShape
    from core.lm.training import TrainingSettings

    _, parts, protocol, halves, epsilon, alpha, queries, w_max, passes, layers, whole, adds = values
    try:
        learning = min(int(layers), most_layers or int(layers))
        shape = LoraShape(layers=learning, rank=_RANK, alpha=2.0 * _RANK)
        plan = Plan(
            parts=int(parts),
            halves=bool(halves) or protocol == "submix",
            epsilon=float(epsilon),
            alpha=float(alpha),
            queries=int(queries),
            protocol=str(protocol),
            w_max=float(w_max),
            whole_passes=WHOLE_PASSES * int(passes) if whole else 0,
            training=TrainingSettings(passes=int(passes), batch=_BATCH, shape=shape),
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("A number of the plan is missing or is none: fill it in.") from error
    return Wanted(plan, bool(adds))


def suggested_name(stem: str) -> str:
    """A name for the ensemble, from that of the file."""
    plain = "".join(char for char in stem if char.isprintable() and char not in '/\\<>{}$`"').strip(" .")
    while len(plain.encode()) > LONGEST_NAME:
        plain = plain[:-1]
    return plain or "my text"
