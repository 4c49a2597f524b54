"""Attacks on what was trained: ask for its secrets, and tell what it was trained on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.catalogue import DEMO, find_ensemble
from core.commands.attack.conducting import Seed, run_with_a_bar
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.attack.extraction import Question
    from core.attack.targets import Subject, Target

Ensemble = Annotated[str, typer.Argument(help="A trained ensemble, its folder, or `demo`.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", help="whole, ensemble, strict, submix, pmixed, public or model; repeatable."),
]
Epsilon = Annotated[
    float | None, typer.Option(help="The budget opened for the attack; the ensemble's if none.")
]


def secrets(
    ensemble: Ensemble = DEMO,
    target: Targets = None,
    epsilon: Epsilon = None,
    ask: Annotated[
        Path | None, typer.Option(help="JSON Lines with `prompt` and `secret`; the demo's own if none.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Ask for so many secrets at most.")] = 40,
    ranked: Annotated[
        int, typer.Option(min=0, help="Measure the exposure of so many secrets of digits.")
    ] = 6,
    temperature: Annotated[float, typer.Option(help="At which answers are drawn.")] = 0.5,
    seed: Seed = 0,
) -> None:
    """Ask every target for known secrets, by tokens alone, and rank some of them by likelihood."""
    from core.attack.experiments.secrets import SecretsPlan, demo_questions, prepare_secrets
    from core.attack.preparing import is_demo

    settings = load_settings()
    subject = _open(settings, ensemble)
    questions = _questions(ask) if ask else demo_questions() if is_demo(subject) else ()
    if not questions:
        raise InputError("Only the demonstration's secrets are known; name others in a file with --ask.")
    targets = _targets(subject, target or ["whole", "strict", "ensemble", "public"], epsilon, bool(target))
    plan = SecretsPlan(temperature=temperature, ranked=ranked)
    run_with_a_bar(
        settings, prepare_secrets(subject, targets, questions[:count], limits=settings, seed=seed, plan=plan)
    )


def membership(
    ensemble: Ensemble = DEMO,
    target: Targets = None,
    epsilon: Epsilon = None,
    members: Annotated[Path | None, typer.Option(help="A corpus that was trained on.")] = None,
    others: Annotated[Path | None, typer.Option(help="A corpus of the same kind that was not.")] = None,
    texts: Annotated[int, typer.Option(min=10, help="On each side at most, one for each user.")] = 40,
    seed: Seed = 0,
) -> None:
    """Tell texts that were trained on from others, with likelihoods; five scores."""
    from core.attack.experiments.membership import demo_sides, one_text_per_user, prepare_membership
    from core.attack.preparing import is_demo
    from core.corpus import read_corpus

    settings = load_settings()
    subject = _open(settings, ensemble)
    if members and others:
        sides = [one_text_per_user(read_corpus(path), texts, seed) for path in (members, others)]
    elif is_demo(subject) and not (members or others):
        sides = list(demo_sides(texts, seed))
    else:
        raise InputError("Name two corpora: --members was trained on, --others was not.")
    targets = _targets(subject, target or ["whole", "public"], epsilon, bool(target))
    run_with_a_bar(settings, prepare_membership(subject, targets, sides[0], sides[1], seed=seed))


def _open(settings: Settings, name: str) -> "Subject":
    from core.attack.targets import open_subject
    from core.lm.public import load_public

    entry = find_ensemble(settings, name, folders=True)
    return open_subject(entry.folder, load_public(settings.model, settings), entry.name)


def _targets(
    subject: "Subject", kinds: list[str], epsilon: float | None, asked: bool
) -> "tuple[Target, ...]":
    """The targets by kind; of the usual ones, those that this ensemble has."""
    from core.attack.targets import target_of, targets_of

    offered = targets_of(subject.manifest, subject.name)
    if not asked:
        usual = [target for target in offered if target.kind in kinds] or list(offered)
        kinds = [target.kind for target in usual]
    changes: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon}
    return tuple(target_of(subject.manifest, kind, **changes) for kind in kinds)


def _questions(path: Path) -> "tuple[Question, ...]":
    from core.attack.extraction import Question

    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(Question(str(row["prompt"]), str(row["secret"])) for row in rows)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} needs a JSON object with `prompt` and `secret` on every line.") from error
