"""What happens on a click: an attack is checked, run in a thread of its own, and stored."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.components.working import Working
from app.identity import Curators
from app.noting import Noted, session_of
from app.panels.attack.look import outcome_html, progress_html, run_html
from core.attack.asked import Asked
from core.attack.conduct import Prepared, conduct
from core.attack.kept.runs import Outcome, Run
from core.attack.menu import ATTACKS, find_subject
from core.attack.preparing import prepare
from core.attack.targets import Subject, open_subject
from core.attack.watch import Reached, Watch
from core.catalogue import Entry
from core.errors import InputError, StudioError
from core.studio import Studio

CURATOR_ONLY = "Attacks on a private corpus are for the curator: sign in at the foot of the page."
WITH_EPSILON = ("secrets", "membership", "canaries", "reconstruction")
WITH_TEXT = ("secrets", "membership", "reconstruction")


class Handlers:
    """The panel's handlers. What was opened last stays in memory, for the next look at it."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self.studio, self.curators = studio, curators
        self._running: dict[str, threading.Event] = {}
        self._opening = threading.Lock()
        self._opened: tuple[tuple[str, str], Subject] | None = None

    def run_attack(self, token: str, request: gr.Request, *values: Any) -> Iterator[tuple[Any, Any]]:
        """How far it is, and what was found so far; in the end the stored run."""
        try:
            asked = asked_from(values)
            self.permit(asked, token)
        except StudioError as error:
            yield notice(str(error), kind="problem"), gr.skip()
            return
        yield progress_html(Reached(0.0, self._first(asked), None)), gr.skip()
        try:
            for reached, outcome, run in self.conducted(asked, session_of(request)):
                if run is not None:
                    yield "", run_html(run)
                elif reached is not None:
                    yield progress_html(reached), outcome_html(outcome) if outcome else gr.skip()
        except StudioError as error:
            yield notice(str(error), kind="problem"), gr.skip()

    def cancel_attack(self, request: gr.Request) -> Any:
        """End what runs for this session; it keeps what it has found, and says so when it has ended."""
        running = self._running.get(session_of(request))
        if running is None:
            return gr.skip()
        running.set()
        return notice("The attack ends after the piece of work that is under way.")

    def conducted(
        self, asked: Asked, session: str
    ) -> Iterator[tuple[Reached | None, Outcome | None, Run | None]]:
        """The attack in a thread: progress with what was found so far, and at last the run."""
        newest: list[Outcome] = []
        stop = threading.Event()

        def work(progress: Any, cancelled: Any) -> Run:
            ready = self.prepared(asked)
            watch = Watch(progress, cancelled)
            return conduct(self.studio.settings, ready, watch=watch, notice=newest.append)

        with self._noted(asked, session) as note:
            self._running[session] = stop
            try:
                working = Working[Reached, Run](work, stop)
                for reached in working:
                    yield reached, newest[-1] if newest else None, None
                run = working.result
            finally:
                stop.set()
                if self._running.get(session) is stop:
                    del self._running[session]
            note.outcome = run.status if run.status != "finished" else "done"
            yield None, run.outcome, run

    def prepared(self, asked: Asked) -> Prepared:
        """The attack with what it needs in memory."""
        return prepare(asked, self.studio.settings, self.studio.public, self._open)

    def permit(self, asked: Asked, token: object) -> None:
        """A private corpus is attacked by its curator alone."""
        if not asked.offer.on_subject:
            return
        if not find_subject(self.studio.settings, asked.subject).synthetic and not self.curators.knows(token):
            raise InputError(CURATOR_ONLY)

    def _open(self, entry: Entry) -> Subject:
        key = (str(entry.folder), entry.manifest.created)
        with self._opening:
            if self._opened is None or self._opened[0] != key:
                self._opened = (key, open_subject(entry.folder, self.studio.public(), entry.name))
            return self._opened[1]

    def _first(self, asked: Asked) -> str:
        return "preparing the attack" if self.studio.ready else "loading the language model"

    def _noted(self, asked: Asked, session: str) -> Noted:
        """A line of the session log; never a text."""
        entry = find_subject(self.studio.settings, asked.subject) if asked.offer.on_subject else None
        return Noted(
            self.studio,
            session,
            "attack",
            asked.attack,
            corpus=entry.corpus if entry else "",
            synthetic=entry.synthetic if entry else True,
            outcome="stopped",
        )


def asked_from(values: Sequence[Any]) -> Asked:
    """What the controls say, in the order of the layout; an emptied number is the usual one."""
    attack, subject, targets, amount, epsilon, seed, template, copies, spread, text, others = values
    offered = ATTACKS.get(str(attack))
    if offered is not None and attack != "stop" and not targets:
        raise InputError("Choose at least one target to attack.")
    try:
        return Asked(
            attack=str(attack),
            subject=str(subject or "") if offered and offered.on_subject else "",
            targets=tuple(map(str, targets or ())) if attack != "stop" else (),
            amount=None if amount is None else int(amount),
            epsilon=float(epsilon) if epsilon and attack in WITH_EPSILON else None,
            seed=int(seed or 0),
            template=str(template or ""),
            copies=8 if copies is None else int(copies),
            spread=bool(spread),
            text=str(text or "") if attack in WITH_TEXT else "",
            others=str(others or "") if attack == "membership" else "",
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("A number is missing or is none: fill it in.") from error
