"""`python -m core attack`: run an attack, list the runs, write a report."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from core.catalogue import DEMO, find_ensemble
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.attack.conduct import Prepared
    from core.attack.extraction import Question
    from core.attack.targets import Subject, Target

# The attacks' libraries are imported in each command: the command line itself starts without them.
app = typer.Typer(help="Attack what was trained, and see what leaks.", no_args_is_help=True)

Seed = Annotated[int, typer.Option(help="Of the experiment; the protected mechanism is never seeded.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", help="whole, ensemble, strict, submix, pmixed, public or model."),
]
Epsilon = Annotated[
    float | None, typer.Option(help="The budget opened for the attack; the ensemble's if none.")
]


class Form(StrEnum):
    """The file formats of a report."""

    html = "html"
    json = "json"


@app.command()
def secrets(
    ensemble: Annotated[str, typer.Argument(help="A trained ensemble, its folder, or `demo`.")] = DEMO,
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
    from core.attack.menu import is_demo
    from core.attack.secrets_run import SecretsPlan, demo_questions, prepare_secrets

    settings = load_settings()
    subject = _open(settings, ensemble)
    questions = _questions(ask) if ask else demo_questions() if is_demo(subject) else ()
    if not questions:
        raise InputError("Only the demonstration's secrets are known; name others in a file with --ask.")
    targets = _targets(subject, target or ["whole", "strict", "ensemble", "public"], epsilon, bool(target))
    plan = SecretsPlan(temperature=temperature, ranked=ranked)
    _run(
        settings, prepare_secrets(subject, targets, questions[:count], limits=settings, seed=seed, plan=plan)
    )


@app.command()
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
    documents: Annotated[int, typer.Option(min=1, help="Documents of the corpus to hide among.")] = 24,
    parts: Annotated[int, typer.Option(help="Parts of the small ensemble.")] = 4,
    epsilon: Annotated[float, typer.Option(help="The budget of each part.")] = 2.0,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the text.")] = 4,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="whole, ensemble, strict, submix, pmixed, public, mdp, smdp, cadp, dp-sgd; repeatable."
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Plant canaries in a copy of a corpus by coin flips, train small adapters, attack and audit them."""
    from core.attack.canary_run import prepare_canaries
    from core.attack.planting import CanaryPlan
    from core.attack.trained import Split, quick_training
    from core.corpus import load_demo, read_corpus
    from core.lm.public import load_public

    settings = load_settings()
    plan = CanaryPlan(
        template=template,
        canaries=count,
        copies=copies,
        among="spread" if spread else "one",
        documents=documents,
        split=Split(parts=parts, epsilon=epsilon, halves="submix" in (target or ())),
        training=quick_training(passes=passes),
        targets=tuple(target) if target else CanaryPlan.targets,
    )
    read = load_demo() if corpus == DEMO else read_corpus(Path(corpus))
    public = load_public(settings.model, settings)
    _run(settings, prepare_canaries(read, public, limits=settings, seed=seed, plan=plan))


@app.command()
def codes(
    length: Annotated[list[int] | None, typer.Option(help="Digits of a code; may be repeated.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="May be repeated.")] = None,
    parts: Annotated[int, typer.Option(help="Each has two halves that memorise one code each.")] = 3,
    generations: Annotated[int, typer.Option(min=1, help="Answers for each point of the figure.")] = 100,
    seed: Seed = 0,
) -> None:
    """Section 4.2 of the SubMix paper: the hit rate against epsilon and code length (Figure 6)."""
    from core.attack.code_run import CodePlan, prepare_codes
    from core.lm.public import load_public

    settings = load_settings()
    given: dict[str, Any] = {"lengths": tuple(length or ()), "epsilons": tuple(epsilon or ())}
    chosen = {name: value for name, value in given.items() if value}
    plan = CodePlan(parts=parts, generations=generations, **chosen)
    public = load_public(settings.model, settings)
    _run(settings, prepare_codes(public, limits=settings, seed=seed, plan=plan))


@app.command()
def membership(
    ensemble: Annotated[str, typer.Argument(help="A trained ensemble, its folder, or `demo`.")] = DEMO,
    target: Targets = None,
    epsilon: Epsilon = None,
    members: Annotated[Path | None, typer.Option(help="A corpus that was trained on.")] = None,
    others: Annotated[Path | None, typer.Option(help="A corpus of the same kind that was not.")] = None,
    texts: Annotated[int, typer.Option(min=10, help="On each side at most, one for each user.")] = 40,
    seed: Seed = 0,
) -> None:
    """Tell texts that were trained on from others, with likelihoods; five scores."""
    from core.attack.membership_run import demo_sides, one_text_per_user, prepare_membership
    from core.attack.menu import is_demo
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
    _run(settings, prepare_membership(subject, targets, sides[0], sides[1], seed=seed))


@app.command()
def reconstruction(
    text: Annotated[str, typer.Argument(help="A text, or a file with one; a ward note if none.")] = "",
    epsilon: Annotated[float, typer.Option(help="For each perturbed word.")] = 12.0,
    target: Annotated[list[str] | None, typer.Option(help="smdp, mdp; may be repeated.")] = None,
    words: Annotated[int, typer.Option(min=1, help="Perturbed words to attack at most.")] = 12,
    seed: Seed = 0,
) -> None:
    """Sanitise a text, and guess the perturbed words back."""
    from core.attack.menu import Asked, prepare
    from core.lm.public import load_public

    settings = load_settings()
    asked = Asked("reconstruction", "", tuple(target or ()), words, epsilon, seed, text=_text_of(text))
    _run(settings, prepare(asked, settings, lambda: load_public(settings.model, settings)))


@app.command()
def audit(
    protocol: Annotated[list[str] | None, typer.Argument(help="strict, pmixed or submix.")] = None,
    games: Annotated[int, typer.Option(min=20, help="On each side of each world.")] = 4000,
) -> None:
    """Play hard worlds with and without a part: a lower bound on epsilon beside the proved one."""
    from core.attack.protocol_runs import prepare_audit

    _run(load_settings(), prepare_audit(*(protocol or ()), games=games))


@app.command()
def stop(games: Annotated[int, typer.Option(min=2, help="On each side.")] = 100) -> None:
    """Tell two worlds apart by when SubMix falls silent; the same attack fails on Strict."""
    from core.attack.protocol_runs import prepare_stop

    _run(load_settings(), prepare_stop(games=games))


@app.command()
def runs() -> None:
    """List the stored runs, the newest first."""
    from core.attack.storage import list_runs

    found = list_runs(load_settings())
    for run in found:
        first = run.outcome.verdict[0] if run.outcome.verdict else run.problem or "nothing found"
        typer.echo(f"{run.id}  {run.created}  {run.attack} on {run.subject}, {run.status}: {first}")
    if not found:
        typer.echo("No attack has been run here.")


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="The name of a run, as `runs` lists it.")],
    form: Annotated[Form, typer.Option("--format", help="html or json.")] = Form.html,
    output: Annotated[Path | None, typer.Option(help="The file to write; without it, the screen.")] = None,
) -> None:
    """Write the report of a run: one HTML file that needs nothing else, or JSON."""
    from core.attack.report import report_html, report_json
    from core.attack.storage import load_run

    found = load_run(load_settings(), run)
    text = report_html(found) if form is Form.html else report_json(found)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror}.") from error
    typer.echo(f"Wrote {output}.")


@app.command()
def delete(run: Annotated[str, typer.Argument(help="The name of a run, as `runs` lists it.")]) -> None:
    """Delete a stored run for good."""
    from core.attack.links import forget_links_of
    from core.attack.storage import delete_run

    settings = load_settings()
    delete_run(settings, run)
    forget_links_of(settings, run)
    typer.echo("Deleted.")


@app.command()
def link(
    run: Annotated[str, typer.Argument(help="The name of a run, as `runs` lists it.")] = "",
    revoke: Annotated[str, typer.Option(help="A link to end.")] = "",
) -> None:
    """Make a read-only link to a run's report on the running studio, end one, or list all."""
    from core.attack.links import list_links, make_link, revoke_link

    settings = load_settings()
    if revoke:
        revoke_link(settings, revoke.rsplit("/", 1)[-1])
        typer.echo("Revoked.")
    elif run:
        typer.echo(f"/report/{make_link(settings, run).token}")
    else:
        for each in list_links(settings):
            typer.echo(f"/report/{each.token}  {each.created}  run {each.run}")


def _run(settings: Settings, prepared: "Prepared") -> None:
    """Conduct an attack with a bar, and print what it found."""
    from core.attack.conduct import conduct
    from core.attack.report import in_words
    from core.attack.watch import Reached, Watch

    console = Console(stderr=True)
    console.print(f"About {prepared.seconds:,.0f} seconds.", highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(prepared.attack, total=1.0)

        def reached(now: Reached) -> None:
            bar.update(task, completed=now.share, description=now.doing)

        run = conduct(settings, prepared, watch=Watch(reached))
    for finding in run.outcome.findings:
        value, interval = in_words(finding)
        shown = f" ({interval})" if interval else ""
        typer.echo(f"{finding.target}: {finding.measure} {value}{shown}")
    for sentence in run.outcome.verdict:
        typer.echo(sentence)
    if run.problem:
        typer.echo(run.problem, err=True)
    typer.echo(f"Kept as {run.id}; `attack report {run.id}` writes it out.", err=True)


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


def _text_of(given: str) -> str:
    """The text itself, or what is in the file of that name."""
    try:
        path = Path(given)
        return path.read_text(encoding="utf-8") if given and path.is_file() else given
    except (OSError, ValueError):
        return given


def _questions(path: Path) -> "tuple[Question, ...]":
    from core.attack.extraction import Question

    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(Question(str(row["prompt"]), str(row["secret"])) for row in rows)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} needs a JSON object with `prompt` and `secret` on every line.") from error
