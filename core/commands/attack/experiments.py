"""Attacks that make what they attack: planted canaries, codes, sanitised text, and games on protocols."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from core.catalogue import DEMO
from core.commands.attack.conducting import Seed, run_with_a_bar
from core.settings import load_settings


def canaries(
    corpus: Annotated[str, typer.Argument(help="A corpus file, or `demo`.")] = DEMO,
    template: Annotated[
        str, typer.Option(help="A sentence with a hole; # is another word for every canary.")
    ] = "The code for the # locker is {digits:4}.",
    count: Annotated[
        int, typer.Option("--canaries", help="How many; a coin decides which are planted.")
    ] = 16,
    copies: Annotated[int, typer.Option(help="How often each is planted.")] = 8,
    spread: Annotated[bool, typer.Option(help="Spread the copies over users.")] = False,
    documents: Annotated[int, typer.Option(min=1, help="Documents of the corpus to hide among.")] = 12,
    parts: Annotated[int, typer.Option(help="Parts of the small ensemble.")] = 4,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Of each part, and of CADP and DP-SGD; 2 and 8 if none. Words have 12."),
    ] = None,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the text.")] = 8,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="whole, ensemble, strict, submix, pmixed, public, mdp, smdp, cadp, dp-sgd; repeatable."
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Plant canaries in a copy of a corpus by coin flips, train small adapters, attack and audit them."""
    from core.attack.experiments.canaries import prepare_canaries
    from core.attack.experiments.planting import CanaryPlan
    from core.attack.experiments.private_training import Protection
    from core.attack.experiments.trained import Split, quick_training
    from core.corpus import load_demo, read_corpus
    from core.lm.public import load_public

    settings = load_settings()
    split = Split(parts=parts, halves="submix" in (target or ()))
    plan = CanaryPlan(
        template=template,
        canaries=count,
        copies=copies,
        among="spread" if spread else "one",
        documents=documents,
        split=split if epsilon is None else replace(split, epsilon=epsilon),
        training=quick_training(passes=passes),
        targets=tuple(target) if target else CanaryPlan.targets,
        protection=Protection() if epsilon is None else Protection(epsilon=epsilon),
    )
    read = load_demo() if corpus == DEMO else read_corpus(Path(corpus))
    public = load_public(settings.model, settings)
    run_with_a_bar(settings, prepare_canaries(read, public, limits=settings, seed=seed, plan=plan))


def codes(
    length: Annotated[list[int] | None, typer.Option(help="Digits of a code; repeatable.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="Repeatable.")] = None,
    parts: Annotated[int, typer.Option(help="Each has two halves that memorise one code each.")] = 3,
    generations: Annotated[int, typer.Option(min=1, help="Answers for each point of the figure.")] = 100,
    protocol: Annotated[list[str] | None, typer.Option(help="submix, strict, pmixed; repeatable.")] = None,
    seed: Seed = 0,
) -> None:
    """Section 4.2 of the SubMix paper: the hit rate against epsilon and code length (Figure 6)."""
    from core.attack.experiments.codes import CodePlan, prepare_codes
    from core.attack.menu import known
    from core.lm.public import load_public

    settings = load_settings()
    known("codes", protocol or ())
    given: dict[str, Any] = {
        "lengths": tuple(length or ()),
        "epsilons": tuple(epsilon or ()),
        "protocols": tuple(protocol or ()),
    }
    chosen = {name: value for name, value in given.items() if value}
    plan = CodePlan(parts=parts, generations=generations, **chosen)
    public = load_public(settings.model, settings)
    run_with_a_bar(settings, prepare_codes(public, limits=settings, seed=seed, plan=plan))


def reconstruction(
    text: Annotated[str, typer.Argument(help="A text, or a file with one; a ward note if none.")] = "",
    epsilon: Annotated[float, typer.Option(help="For each perturbed word.")] = 12.0,
    target: Annotated[list[str] | None, typer.Option(help="smdp, mdp; repeatable.")] = None,
    words: Annotated[int, typer.Option(min=1, help="Perturbed words to attack at most.")] = 12,
    seed: Seed = 0,
) -> None:
    """Sanitise a text, and guess the perturbed words back."""
    from core.attack.asked import Asked
    from core.attack.preparing import prepare
    from core.lm.public import load_public

    settings = load_settings()
    asked = Asked("reconstruction", "", tuple(target or ()), words, epsilon, seed, text=_text_of(text))
    run_with_a_bar(settings, prepare(asked, settings, lambda: load_public(settings.model, settings)))


def audit(
    protocol: Annotated[list[str] | None, typer.Argument(help="strict, pmixed or submix.")] = None,
    games: Annotated[int, typer.Option(min=20, help="On each side of each world.")] = 4000,
) -> None:
    """Play hard worlds with and without a part: a lower bound on epsilon beside the proved one."""
    from core.attack.experiments.protocols import prepare_audit

    run_with_a_bar(load_settings(), prepare_audit(*(protocol or ()), games=games))


def stop(games: Annotated[int, typer.Option(min=2, help="On each side.")] = 100) -> None:
    """Tell two worlds apart by when SubMix falls silent; the same attack fails on Strict."""
    from core.attack.experiments.protocols import prepare_stop

    run_with_a_bar(load_settings(), prepare_stop(games=games))


def _text_of(given: str) -> str:
    """The text itself, or what is in the file of that name."""
    try:
        path = Path(given)
        return path.read_text(encoding="utf-8") if given and path.is_file() else given
    except (OSError, ValueError):
        return given
