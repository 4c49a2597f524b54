"""Everything that can be attacked here, and how each attack is asked for, by names and numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.attack.conduct import Prepared
from core.attack.targets import (
    PRIVATE_TRAININGS,
    TITLES,
    Subject,
    Target,
    chosen,
    open_subject,
    target_of,
    targets_of,
)
from core.catalogue import Entry, list_ensembles
from core.errors import InputError
from core.lm.public import PublicModel
from core.settings import Settings

if TYPE_CHECKING:
    from core.attack.extraction import Question

LONGEST_TEXT = 20_000
MOST_LINES = 200
EPSILON, WORD_EPSILON = 2.0, 12.0
CODE_LENGTHS, CODE_EPSILONS = (2, 4), (2.0, 50.0, 1000.0)  # a figure in minutes; the command line has it all


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


@dataclass(frozen=True)
class Asked:
    """What is asked for. Text is used by some attacks: secrets, texts of both sides, a text to sanitise."""

    attack: str = "secrets"
    subject: str = ""
    targets: tuple[str, ...] = ()
    amount: int | None = None
    epsilon: float | None = None
    seed: int = 0
    template: str = ""
    copies: int = 8
    spread: bool = False
    text: str = ""
    others: str = ""

    def __post_init__(self) -> None:
        if self.attack not in ATTACKS:
            raise InputError(f"An attack is one of {', '.join(ATTACKS)} (it is {self.attack[:40]!r}).")
        offer = ATTACKS[self.attack]
        if self.amount is not None and not offer.least <= self.amount <= offer.most:
            raise InputError(f"{offer.amount}: between {offer.least:,} and {offer.most:,}.")
        if self.epsilon is not None and not 0.01 <= self.epsilon <= 10_000:
            raise InputError("Epsilon must lie between 0.01 and 10,000.")
        if not 0 <= self.seed < 2**31:
            raise InputError("The seed of an experiment is a whole number from 0 on.")
        if max(len(self.text), len(self.others)) > LONGEST_TEXT or len(self.template) > 400:
            raise InputError(f"A text has at most {LONGEST_TEXT:,} characters, a canary's format 400.")
        if not 1 <= self.copies <= 200:
            raise InputError("A canary has between 1 and 200 copies.")

    @property
    def offer(self) -> Attack:
        """The attack as it is offered."""
        return ATTACKS[self.attack]

    @property
    def many(self) -> int:
        """The amount, or the usual one."""
        return self.offer.usual if self.amount is None else self.amount


def subjects(settings: Settings) -> tuple[Entry, ...]:
    """What was trained and can be attacked: ensembles, and single models of the detector's training."""
    from core.context.cadp_job import list_cadp

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
            {target.kind: target.words for target in targets_of(entry.manifest, entry.name)} if entry else {}
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


def prepare(
    asked: Asked,
    settings: Settings,
    public: Callable[[], PublicModel],
    subject: Callable[[Entry], Subject] | None = None,
) -> Prepared:
    """The attack, ready to run. `subject` may hand over what is already in memory."""
    entry = find_subject(settings, asked.subject) if asked.offer.on_subject else None
    kinds = asked.targets or tuple(usual_targets(asked.attack, entry))
    if not kinds and asked.attack != "stop":
        raise InputError("Choose at least one target to attack.")
    if entry is not None:
        opened = subject(entry) if subject else open_subject(entry.folder, public(), entry.name)
        return _on_subject(asked, settings, opened, kinds)
    if asked.attack == "canaries":
        return _canaries(asked, settings, public(), kinds)
    if asked.attack == "codes":
        from core.attack.code_run import CodePlan, prepare_codes

        _known(kinds, offered_targets("codes", None))
        plan = CodePlan(CODE_LENGTHS, CODE_EPSILONS, generations=asked.many, protocols=kinds)
        return prepare_codes(public(), limits=settings, seed=asked.seed, plan=plan)
    if asked.attack == "reconstruction":
        return _reconstruction(asked, settings, public, kinds)
    from core.attack.protocol_runs import prepare_audit, prepare_stop

    if asked.attack == "audit":
        return prepare_audit(*kinds, games=asked.many, seed=asked.seed)
    return prepare_stop(games=asked.many, seed=asked.seed)


def _on_subject(asked: Asked, settings: Settings, subject: Subject, kinds: tuple[str, ...]) -> Prepared:
    from core.attack.membership_run import demo_sides, prepare_membership
    from core.attack.secrets_run import demo_questions, prepare_secrets

    targets = _targets(subject, kinds, asked.epsilon)
    demo = is_demo(subject)
    if asked.attack == "secrets":
        questions = questions_from(asked.text) if asked.text.strip() else demo_questions() if demo else ()
        if not questions:
            raise InputError(
                "Only the demonstration's secrets are known. Write others, one a line: the words before the "
                "secret, then =>, then the secret."
            )
        return prepare_secrets(subject, targets, questions[: asked.many], limits=settings, seed=asked.seed)
    if asked.text.strip() or asked.others.strip():
        sides = [_lines(asked.text)[: asked.many], _lines(asked.others)[: asked.many]]
    elif demo:
        sides = list(demo_sides(asked.many, asked.seed))
    else:
        raise InputError(
            "Write texts that were trained on and texts of the same kind that were not, one a line."
        )
    return prepare_membership(subject, targets, sides[0], sides[1], seed=asked.seed)


def _canaries(asked: Asked, settings: Settings, public: PublicModel, kinds: tuple[str, ...]) -> Prepared:
    from core.attack.canary_run import prepare_canaries
    from core.attack.planting import CanaryPlan
    from core.attack.private_training import Protection
    from core.attack.trained import Split
    from core.corpus.demo import load_demo

    epsilon = EPSILON if asked.epsilon is None else asked.epsilon
    plan = CanaryPlan(
        template=asked.template.strip() or CanaryPlan.template,
        canaries=asked.many,
        copies=asked.copies,
        among="spread" if asked.spread else "one",
        split=Split(epsilon=epsilon, halves="submix" in kinds),
        targets=kinds,
        protection=Protection() if asked.epsilon is None else Protection(epsilon=epsilon),
    )
    return prepare_canaries(load_demo(), public, limits=settings, seed=asked.seed, plan=plan)


def _reconstruction(
    asked: Asked, settings: Settings, public: Callable[[], PublicModel], kinds: tuple[str, ...]
) -> Prepared:
    from core.attack.reconstruction_run import DEFAULT_TEXT, ReconstructionPlan, prepare_reconstruction
    from core.sanitizing import Sanitizer, check_text

    epsilon = WORD_EPSILON if asked.epsilon is None else asked.epsilon
    text = asked.text if asked.text.strip() else DEFAULT_TEXT
    check_text(text)
    plan = ReconstructionPlan(text, epsilon, kinds, most=asked.many)
    mechanism = Sanitizer(settings).mechanism(plan.noise, epsilon)
    return prepare_reconstruction(mechanism, public, seed=asked.seed, plan=plan)


def is_demo(subject: Subject) -> bool:
    """Whether this was trained on the demonstration corpus, whose secrets are known."""
    from core.corpus.demo import NAME

    return subject.manifest.synthetic and subject.manifest.partition.get("corpus") == NAME


def questions_from(text: str) -> "tuple[Question, ...]":
    """Secrets as people write them: `the words before it => the secret`, one a line."""
    from core.attack.extraction import Question

    found = []
    for line in _lines(text):
        prompt, arrow, secret = line.partition("=>")
        if not (arrow and prompt.strip() and secret.strip()):
            raise InputError(f"A secret is written as words => secret; this line is not: {line[:60]!r}.")
        found.append(Question(prompt.strip(), secret.strip()))
    return tuple(found)


def _targets(subject: Subject, kinds: tuple[str, ...], epsilon: float | None) -> tuple[Target, ...]:
    offered = chosen(targets_of(subject.manifest, subject.name), kinds)
    if epsilon is None:
        return offered
    return tuple(
        target_of(subject.manifest, target.kind, epsilon=epsilon) if target.protected else target
        for target in offered
    )


def _known(kinds: tuple[str, ...], offered: dict[str, str]) -> None:
    missing = [kind for kind in kinds if kind not in offered]
    if missing:
        raise InputError(f"There is no target {missing[0]!r} here. There are: {', '.join(offered)}.")


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        raise InputError(f"At most {MOST_LINES} lines are taken at once.")
    return lines
