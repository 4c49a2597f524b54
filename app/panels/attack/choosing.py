"""Before a click: the controls that an attack needs, and how long it would take."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from time import monotonic, sleep
from typing import Any

import gradio as gr

from app.noting import session_of
from app.panels.attack.handlers import WITH_EPSILON, Handlers, asked_from
from app.panels.attack.look import EPSILONS, estimate_html, limits_of
from core.attack.asked import Asked
from core.attack.menu import (
    ATTACKS,
    WORD_EPSILON,
    find_subject,
    offered_targets,
    subjects,
    usual_epsilon,
    usual_targets,
)
from core.catalogue import Entry
from core.errors import StudioError

_TEXTS = {
    "secrets": (
        "Secrets to ask for",
        "Empty: those of the demonstration. Otherwise one a line: the words before it => the secret",
    ),
    "membership": ("Texts that were trained on", "Empty: the demonstration's. Otherwise one a line."),
    "reconstruction": ("The text to sanitise and attack", "Empty: a ward note."),
}
_GOOD_FOR = 60.0  # seconds that an estimate stands; the trials behind it are made again a little later
_BUSY = 1.5  # times the processor's own time; from here on the present pace says little about the next minute
_REMEMBERED = 512  # sessions
_PATIENCE = 120  # seconds that an estimate waits for the model, which is loaded while the page opens


class Choosing:
    """The handlers of the controls. A trial that ends when another attack has been chosen says nothing."""

    def __init__(self, does: Handlers) -> None:
        self.does, self.settings = does, does.studio.settings
        self._timed: dict[Asked, tuple[float, float]] = {}
        self._chosen: OrderedDict[str, str] = OrderedDict()  # the newest attack of each session

    def choose_attack(
        self,
        attack: str,
        subject: str,
        targets: list[str],
        amount: float | None,
        epsilon: float | None,
        acted: bool,
        request: gr.Request,
    ) -> tuple[Any, ...]:
        """The controls of an attack: its targets, what is counted, and the fields that it needs.

        On a click the attack's own values; where the address has set them, they stay.
        """
        self._chose(session_of(request), str(attack))
        offer, entry = ATTACKS.get(str(attack), ATTACKS["secrets"]), self._entry(str(subject or ""))
        offered = offered_targets(attack, entry)
        kept = [] if acted else [kind for kind in targets or [] if kind in offered]
        fits = not acted and amount is not None and offer.least <= amount <= offer.most
        label, info = _TEXTS.get(attack, ("", ""))
        planted = gr.update(visible=attack == "canaries")
        fresh = acted or not epsilon
        return (
            gr.update(visible=offer.on_subject or bool(offered)),
            gr.update(visible=offer.on_subject),
            gr.update(
                choices=[(words, kind) for kind, words in offered.items()],
                value=kept or usual_targets(attack, entry),
                visible=bool(offered),
            ),
            gr.update(
                label=offer.amount,
                info=limits_of(offer),
                value=amount if fits else offer.usual,
            ),
            gr.update(
                visible=attack in WITH_EPSILON,
                value=usual_epsilon(attack, entry) if fresh else epsilon,
                label="Epsilon for each word" if attack == "reconstruction" else "Epsilon",
                info=f"{EPSILONS}; words have {WORD_EPSILON:g}" if attack == "canaries" else EPSILONS,
            ),
            planted,
            planted,
            planted,
            gr.update(visible=bool(label), label=label, info=info),
            gr.update(
                visible=attack == "membership",
                label="Texts of the same kind that were not",
                info="One a line, of other people.",
            ),
        )

    def names(self) -> Any:
        """What was trained here by now."""
        return gr.update(choices=[entry.name for entry in subjects(self.settings)])

    def greet_attack(self, token: str, request: gr.Request, *values: Any) -> Iterator[Any]:
        """The estimate for a page that opens on this panel; others wait until the panel is opened."""
        if (request.query_params or {}).get("panel") == "attack":
            yield from self.time_attack(token, request, *values)
        else:
            yield gr.skip()

    def time_attack(self, token: str, request: gr.Request, *values: Any) -> Iterator[Any]:
        """What the attack does, at once; then how long it takes, by a short trial once the model is there."""
        attack, session = str(values[0]), session_of(request)
        for said in self._said(attack, token, values):
            if self._chosen.get(session, attack) != attack:
                yield gr.skip()
                return
            yield said

    def _said(self, attack: str, token: str, values: Sequence[Any]) -> Iterator[str]:
        from core.attack.experiments.pace import waiting

        try:
            asked = asked_from(values)
            self.does.permit(asked, token)
            if self._known(asked) is None:
                yield estimate_html(attack, None, trying=self.does.studio.ready)
            for _ in range(_PATIENCE):
                if self.does.studio.ready:
                    break
                sleep(1.0)
                yield estimate_html(attack, None)
            if self.does.studio.ready:
                seconds = self.seconds(asked)
                yield estimate_html(attack, seconds, busy=waiting() > _BUSY)
        except StudioError as error:
            yield estimate_html(attack, None, str(error))

    def seconds(self, asked: Asked) -> float:
        """How long an attack takes, by a trial that is good for a minute."""
        known = self._known(asked)
        if known is None:
            known = self.does.prepared(asked).seconds
            self._timed[asked] = (monotonic(), known)
        return known

    def _known(self, asked: Asked) -> float | None:
        """The estimate of a trial that still stands."""
        now = monotonic()
        self._timed = {key: each for key, each in self._timed.items() if now - each[0] <= _GOOD_FOR}
        return self._timed[asked][1] if asked in self._timed else None

    def _chose(self, session: str, attack: str) -> None:
        self._chosen[session] = attack
        self._chosen.move_to_end(session)
        while len(self._chosen) > _REMEMBERED:
            self._chosen.popitem(last=False)

    def _entry(self, subject: str) -> Entry | None:
        try:
            return find_subject(self.settings, subject or "")
        except StudioError:
            return None
