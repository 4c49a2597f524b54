"""What can be attacked here: the attacks by name, what each is aimed at, and what it opens with."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.attack.targets import PRIVATE_TRAININGS, TITLES, targets_of
from core.catalogue import Entry, list_ensembles
from core.errors import InputError
from core.settings import Settings

EPSILON, WORD_EPSILON = 2.0, 12.0


@dataclass(frozen=True)
class Attack:
    """One attack as it is offered. `amount` is what is counted: its name, the usual number and its limits."""

    title: str
    says: str
    amount: str
    usual: int
    least: int
    most: int
    targets: tuple[str, ...]
    on_subject: bool = False  # whether it attacks something that was trained here


ATTACKS: dict[str, Attack] = {
    "secrets": Attack(
        "Ask for secrets",
        "Asks each target for known secrets by sampled tokens alone, then ranks the digits among all others.",
        "Secrets to ask for", 10, 1, 40, ("whole", "strict", "public"), on_subject=True,
    ),
    "canaries": Attack(
        "Plant canaries and train",
        "Plants codes in a copy of the demonstration corpus by coin flips, trains on it, attacks.",
        "Canaries", 16, 4, 60, ("whole", "strict", "smdp"),
    ),
    "codes": Attack(
        "Extraction, Figure 6",
        "Each model memorises one code; the hit rate of many answers against epsilon and the code's length.",
        "Answers for each point", 20, 1, 1000, ("submix", "strict"),
    ),
    "membership": Attack(
        "Membership inference",
        "Tells texts that were trained on from others of the same kind, by five scores.",
        "Texts on each side", 30, 10, 200, ("whole", "public"), on_subject=True,
    ),
    "reconstruction": Attack(
        "Undo sanitised text",
        "Perturbs a text as Sanitize does, and guesses the words back.",
        "Words to attack", 12, 1, 120, ("smdp", "mdp"),
    ),
    "audit": Attack(
        "Audit epsilon",
        "Plays hard worlds with and without a part: a lower bound on epsilon beside the proved upper one.",
        "Games on each side", 2000, 20, 50_000, ("strict",),
    ),
    "stop": Attack(
        "The STOP attack",
        "Tells two worlds apart by when the paper's SubMix falls silent; the same attack on Strict.",
        "Games on each side", 100, 2, 500, (),
    ),
}  # fmt: skip
_TITLES = {
    **TITLES,
    "model": "the model itself",
    "mdp": "MDP text",
    "smdp": "SMDP text",
    "cadp": "CADP",
    "dp-sgd": "DP-SGD",
}


def subjects(settings: Settings) -> tuple[Entry, ...]:
    """What was trained and can be attacked: ensembles, and single models of the detector's training."""
    from core.context.cadp.saved import list_cadp

    entries = (*list_ensembles(settings), *list_cadp(settings))
    return tuple(entry for entry in entries if entry.fits(settings))


def find_subject(settings: Settings, name: str) -> Entry:
    """One of these by name; the demonstration where there is no name."""
    known = subjects(settings)
    for entry in known:
        if entry.name == name or (not name and entry.shipped):
            return entry
    there = ", ".join(entry.name for entry in known) or "none yet"
    raise InputError(f"There is nothing named {name[:60]!r} to attack here. There are: {there}.")


def offered_targets(attack: str, entry: Entry | None) -> dict[str, str]:
    """What an attack can be aimed at, by kind, with its name."""
    if attack in ("secrets", "membership"):
        return (
            {target.kind: target.title for target in targets_of(entry.manifest, entry.name)} if entry else {}
        )
    kinds: tuple[str, ...] = ()
    if attack == "canaries":
        kinds = ("whole", "ensemble", "strict", "submix", "pmixed", "public", *PRIVATE_TRAININGS)
    elif attack == "codes":
        kinds = ("submix", "strict", "pmixed")
    elif attack == "audit":
        kinds = ("strict", "pmixed", "submix")
    elif attack == "reconstruction":
        kinds = ("smdp", "mdp")
    return {kind: _TITLES[kind] for kind in kinds}


def known(attack: str, kinds: Sequence[str]) -> None:
    """Refuse what an attack that makes its own targets does not offer."""
    offered = offered_targets(attack, None)
    missing = [kind for kind in kinds if kind not in offered]
    if missing:
        raise InputError(f"There is no target {missing[0]!r} here. There are: {', '.join(offered)}.")


def usual_targets(attack: str, entry: Entry | None) -> list[str]:
    """The targets that an attack opens with: those of the usual ones that there are."""
    offered = offered_targets(attack, entry)
    usual = [kind for kind in ATTACKS[attack].targets if kind in offered]
    return usual or [kind for kind in offered if kind != "public"][:2] or list(offered)[:1]


def usual_epsilon(attack: str, entry: Entry | None) -> float:
    """The epsilon that an attack opens with: the one that its targets are served with."""
    if attack == "reconstruction":
        return WORD_EPSILON
    served = entry.manifest.budget.get("epsilon") if entry and ATTACKS[attack].on_subject else None
    return EPSILON if served is None else float(served)
