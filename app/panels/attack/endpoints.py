"""The API, also as MCP tools: the same attacks for programs; a visitor's rights unless a token is sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
from gradio.events import api

from app.noting import session_of
from app.panels.attack.handlers import Handlers
from app.panels.attack.stored import Stored
from app.refusal import refusal
from core.attack.asked import Asked
from core.attack.kept.report import report_html
from core.errors import InputError, StudioError


def build(does: Handlers, kept: Stored, limit: dict[str, Any]) -> None:
    """The named endpoints: attack, attack_estimate, attack_runs and attack_report."""

    def attack(
        attack: str = "secrets",
        subject: str = "",
        targets: str = "",
        amount: int = 0,
        epsilon: float = 0.0,
        seed: int = 0,
        text: str = "",
        others: str = "",
        template: str = "",
        token: str = "",
        request: gr.Request | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Attack what was trained here; streams how far it is and ends with the run, its verdict and numbers.

        Protected targets pay from a copy of their budget. The run is stored. One attack runs at a time.

        Args:
            attack: secrets, canaries, codes, membership, reconstruction, audit or stop.
            subject: for secrets and membership, what was trained; empty is the demonstration.
            targets: of whole,ensemble,strict,submix,pmixed,public,model,mdp,smdp,cadp,dp-sgd; empty: usual.
            amount: how many secrets, canaries, answers, texts, words or games; 0 is the usual number.
            epsilon: the budget opened for the attack; 0 is the one that the target is served with.
            seed: of the experiment; the protected mechanism is never seeded.
            text: secrets to ask for (words => secret) or texts trained on, one a line; or a text to sanitise.
            others: for membership, texts of the same kind that were not trained on, one a line.
            template: for canaries, a sentence with a hole, such as "The code is {digits:4}."
            token: a curator's token, needed for private corpora.
        """
        with _sentences():
            asked = _asked(attack, subject, targets, amount, epsilon, seed, text, others, template)
            does.permit(asked, token)
            for reached, _, run in does.conducted(asked, session_of(request)):
                if run is not None:
                    yield run.to_json()
                elif reached is not None:
                    left = reached.seconds_left
                    yield {"share": reached.share, "doing": reached.doing, "seconds_left": left}

    def attack_estimate(
        attack: str = "secrets", subject: str = "", targets: str = "", amount: int = 0, token: str = ""
    ) -> float:
        """About how many seconds an attack takes here, by a short trial.

        Args:
            attack: as for `attack`.
            subject: as for `attack`.
            targets: as for `attack`.
            amount: as for `attack`.
            token: a curator's token, needed for private corpora.
        """
        with _sentences():
            asked = _asked(attack, subject, targets, amount, 0.0, 0, "", "", "")
            does.permit(asked, token)
            return does.prepared(asked).seconds

    def attack_runs(token: str = "") -> list[dict[str, Any]]:
        """The stored runs, the newest first: those on synthetic text, with a curator's token all of them.

        Args:
            token: a curator's token.
        """
        with _sentences():
            return [
                {
                    "id": run.id,
                    "attack": run.attack,
                    "subject": run.subject,
                    "created": run.created,
                    "status": run.status,
                    "verdict": list(run.outcome.verdict),
                }
                for run in kept.runs(token)
            ]

    def attack_report(run: str, form: str = "json", token: str = "") -> dict[str, Any]:
        """A stored run: as JSON, or with form html its report in one page that needs nothing else.

        Args:
            run: the id of a run, as `attack_runs` lists it.
            form: json or html.
            token: a curator's token, needed for runs on private text.
        """
        with _sentences():
            if form not in ("json", "html"):
                raise InputError("A report is json or html.")
            found = kept.run(token, run)
            return found.to_json() if form == "json" else {"html": report_html(found)}

    api(attack, api_name="attack", **limit)
    api(attack_estimate, api_name="attack_estimate", **limit)
    api(attack_runs, api_name="attack_runs")
    api(attack_report, api_name="attack_report")


def _asked(
    attack: str,
    subject: str,
    targets: str,
    amount: int,
    epsilon: float,
    seed: int,
    text: str,
    others: str,
    template: str,
) -> Asked:
    kinds = tuple(name.strip() for name in targets.split(",") if name.strip())
    return Asked(
        attack, subject, kinds, int(amount) or None, float(epsilon) or None, int(seed), template,
        text=text, others=others,
    )  # fmt: skip


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn the project's errors into Gradio's, with their sentence."""
    try:
        yield
    except StudioError as error:
        raise refusal(error) from error
