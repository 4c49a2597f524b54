"""From what is asked for to an attack that is ready to run; a mistake is a sentence before anything runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.attack.asked import Asked
from core.attack.conduct import Prepared
from core.attack.menu import EPSILON, WORD_EPSILON, find_subject, known, usual_targets
from core.attack.targets import Subject, Target, chosen, open_subject, target_of, targets_of
from core.catalogue import Entry
from core.errors import InputError
from core.lm.public import PublicModel
from core.settings import Settings

if TYPE_CHECKING:
    from core.attack.extraction import Question

MOST_LINES = 200
CODE_LENGTHS, CODE_EPSILONS = (2, 4), (2.0, 50.0, 1000.0)  # a figure in minutes; the command line has it all


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
        from core.attack.experiments.codes import CodePlan, prepare_codes

        known("codes", kinds)
        plan = CodePlan(CODE_LENGTHS, CODE_EPSILONS, generations=asked.many, protocols=kinds)
        return prepare_codes(public(), limits=settings, seed=asked.seed, plan=plan)
    if asked.attack == "reconstruction":
        return _reconstruction(asked, settings, public, kinds)
    from core.attack.experiments.protocols import prepare_audit, prepare_stop

    if asked.attack == "audit":
        return prepare_audit(*kinds, games=asked.many, seed=asked.seed)
    return prepare_stop(games=asked.many, seed=asked.seed)


def _on_subject(asked: Asked, settings: Settings, subject: Subject, kinds: tuple[str, ...]) -> Prepared:
    from core.attack.experiments.membership import demo_sides, prepare_membership
    from core.attack.experiments.secrets import demo_questions, prepare_secrets

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
    from core.attack.experiments.canaries import prepare_canaries
    from core.attack.experiments.planting import CanaryPlan
    from core.attack.experiments.private_training import Protection
    from core.attack.experiments.trained import Split
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
    from core.attack.experiments.reconstruction import (
        DEFAULT_TEXT,
        ReconstructionPlan,
        prepare_reconstruction,
    )
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


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        raise InputError(f"At most {MOST_LINES} lines are taken at once.")
    return lines
