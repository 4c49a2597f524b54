"""`python -m core compare`: the three answers of the page, from the shell."""

from typing import TYPE_CHECKING

import typer

from core.catalogue import DEMO, find_ensemble
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.ensembles import ServedEnsemble
    from core.predict import Decoding
    from core.predict.verdict import Outcome
    from core.store import Ledger

# Heavy libraries are imported where they are needed: a start needs none.


def compare(
    ensemble: str = typer.Argument(DEMO, help="The name of a trained ensemble, or its folder."),
    prompt: str = typer.Option(None, help="The text to continue; what the page opens with if none."),
    length: int = typer.Option(40, help="Tokens to draw at most."),
    temperature: float = typer.Option(0.7, help="Below 1 is more predictable, above 1 more surprising."),
    top_k: int = typer.Option(0, help="Draw among this many likeliest tokens of the public model; 0: all."),
    top_p: float = typer.Option(1.0, help="Draw among the public model's likeliest tokens of this share."),
) -> None:
    """Answer a prompt as the page does: protected, unprotected (synthetic corpora only) and public."""
    from core.corpus.demo import demo_prompts
    from core.ensembles import ServedEnsemble
    from core.lm.public import load_public
    from core.predict import Decoding
    from core.predict.verdict import verdict_text
    from core.store import open_store

    settings = load_settings()
    served = ServedEnsemble(
        find_ensemble(settings, ensemble, folders=True).folder, load_public(settings.model, settings)
    )
    decoding = Decoding(temperature=temperature, top_k=top_k or None, top_p=top_p)
    with open_store(settings) as store:
        asked = prompt if prompt is not None else demo_prompts()[0].prompt
        outcome = _answer(served, store.ledger, asked, decoding, length, settings)
    typer.echo(verdict_text(outcome))


def _answer(
    served: "ServedEnsemble",
    ledger: "Ledger",
    prompt: str,
    decoding: "Decoding",
    length: int,
    settings: Settings,
) -> "Outcome":
    """Draw the answers in step, print each, and say what happened."""
    from core.corpus.demo import planted_in
    from core.corpus.leaks import asked_for, find_leaks
    from core.predict import PROTOCOLS
    from core.predict.compare import Tally, stream_in_step
    from core.predict.verdict import Outcome
    from core.turns import Turns

    account, tally = served.account(ledger), Tally()
    frames = list(
        stream_in_step(
            served,
            account,
            prompt,
            decoding,
            length=length,
            limits=settings,
            turns=Turns(),
            tally=tally,
            session="shell",
        )
    )
    drawn = [frame.protected for frame in frames if frame.protected]
    texts = {
        "Protected": "".join(released.text for released in drawn),
        "Unprotected": "".join(frame.unprotected.text for frame in frames if frame.unprotected),
        "Public": "".join(frame.public.text for frame in frames if frame.public),
    }
    if not served.has_unprotected:
        del texts["Unprotected"]
    typer.echo("\n\n".join(f"{title}: {prompt}{text}" for title, text in texts.items()) + "\n")
    secrets, state = planted_in(served.corpus, synthetic=served.manifest.synthetic), account.budget()
    leaks = {title: find_leaks(prompt, text, secrets) for title, text in texts.items()}
    problems = [frame.drawn.problem for frame in frames if frame.drawn and frame.drawn.problem]
    return Outcome(
        tokens=len(drawn),
        from_public=sum(released.public for released in drawn),
        epsilon=state.epsilon,
        used=state.used,
        queries=state.queries,
        cost=tally.cost,
        compared=served.has_unprotected and bool(secrets),
        asked=asked_for(prompt, secrets),
        protected=leaks["Protected"],
        unprotected=leaks.get("Unprotected", ()),
        public=leaks["Public"],
        problem=problems[-1] if problems else "",
        accounted=PROTOCOLS[state.protocol].protected,
    )
