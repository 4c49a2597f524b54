"""What happens on a click: an attack is checked, timed, run in a thread of its own, and stored."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.components.working import Working
from app.identity import Curators
from app.panels.attack.look import estimate_html, outcome_html, progress_html, run_html
from core.attack.conduct import Prepared, conduct
from core.attack.menu import (
    ATTACKS,
    Asked,
    find_subject,
    offered_targets,
    prepare,
    subjects,
    usual_epsilon,
    usual_targets,
)
from core.attack.runs import Outcome, Run
from core.attack.targets import Subject, open_subject
from core.attack.watch import Reached, Watch
from core.catalogue import Entry
from core.errors import InputError, StudioError
from core.studio import Studio

CURATOR_ONLY = "Attacks on a private corpus are for the curator: sign in at the foot of the page."
_TEXTS = {
    "secrets": (
        "Secrets to ask for",
        "Empty: those of the demonstration. Otherwise one a line: the words before it => the secret",
    ),
    "membership": ("Texts that were trained on", "Empty: the demonstration's. Otherwise one a line."),
    "reconstruction": ("The text to sanitise and attack", "Empty: a ward note."),
}

_GOOD_FOR = 300.0  # seconds
_WITH_EPSILON = ("secrets", "membership", "canaries", "reconstruction")


class Handlers:
    """The panel's handlers. What was opened last stays in memory, for the next look at it."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self.studio, self.curators = studio, curators
        self._running: dict[str, threading.Event] = {}
        self._opening = threading.Lock()
        self._opened: tuple[tuple[str, str], Subject] | None = None
        self._timed: dict[Asked, tuple[float, float]] = {}

    def choose_attack(
        self,
        attack: str,
        subject: str,
        targets: list[str],
        amount: float | None,
        epsilon: float | None,
        acted: bool,
    ) -> tuple[Any, ...]:
        """The controls of an attack: its targets, what is counted, and the fields that it needs.

        On a click the attack's own values; where the address has set them, they stay.
        """
        offer, entry = ATTACKS.get(str(attack), ATTACKS["secrets"]), self._entry(str(subject or ""))
        offered = offered_targets(attack, entry)
        kept = [] if acted else [kind for kind in targets or [] if kind in offered]
        fits = not acted and amount is not None and offer.least <= amount <= offer.most
        label, info = _TEXTS.get(attack, ("", ""))
        planted = gr.update(visible=attack == "canaries")
        fresh = acted or not epsilon
        return (
            gr.update(visible=offer.on_subject),
            gr.update(
                choices=[(words, kind) for kind, words in offered.items()],
                value=kept or usual_targets(attack, entry),
                visible=bool(offered),
            ),
            gr.update(
                label=offer.amount,
                info=f"{offer.least:,} to {offer.most:,}",
                value=amount if fits else offer.usual,
            ),
            gr.update(
                visible=attack in _WITH_EPSILON,
                value=usual_epsilon(attack, entry) if fresh else epsilon,
                label="Epsilon for each word" if attack == "reconstruction" else "Epsilon",
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
        return gr.update(choices=[entry.name for entry in subjects(self.studio.settings)])

    def greet_attack(self, token: str, request: gr.Request, *values: Any) -> Iterator[Any]:
        """The estimate for a page that opens on this panel; others wait until the panel is opened."""
        if (request.query_params or {}).get("panel") == "attack":
            yield from self.time_attack(token, *values)
        else:
            yield gr.skip()

    def time_attack(self, token: str, *values: Any) -> Iterator[str]:
        """What the attack does, at once; then how long it takes, by a short trial if the model is there."""
        attack = str(values[0])
        try:
            asked = asked_from(values)
            self.permit(asked, token)
            yield estimate_html(attack, None, trying=self.studio.ready)
            if self.studio.ready:
                yield estimate_html(attack, self.seconds(asked))
        except StudioError as error:
            yield estimate_html(attack, None, str(error))

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
        return progress_html(Reached(0.0, "ending after the step that is under way", None))

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
            note["outcome"] = run.status if run.status != "finished" else "done"
            yield None, run.outcome, run

    def seconds(self, asked: Asked) -> float:
        """How long an attack takes, by a trial that is good for some minutes."""
        now, known = time.monotonic(), self._timed.get(asked)
        if known is None or now - known[0] > _GOOD_FOR:
            known = self._timed[asked] = (now, self.prepared(asked).seconds)
            self._timed = {key: each for key, each in self._timed.items() if now - each[0] <= _GOOD_FOR}
        return known[1]

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

    def _entry(self, subject: str) -> Entry | None:
        try:
            return find_subject(self.studio.settings, subject or "")
        except StudioError:
            return None

    def _first(self, asked: Asked) -> str:
        return "preparing the attack" if self.studio.ready else "loading the language model"

    @contextmanager
    def _noted(self, asked: Asked, session: str) -> Iterator[dict[str, str]]:
        """A line of the session log; never a text."""
        started, note = time.perf_counter(), {"outcome": "stopped"}
        entry = find_subject(self.studio.settings, asked.subject) if asked.offer.on_subject else None
        try:
            yield note
        except StudioError:
            note["outcome"] = "refused"
            raise
        finally:
            self.studio.note(
                session=session,
                panel="attack",
                action=asked.attack,
                outcome=note["outcome"],
                duration_ms=(time.perf_counter() - started) * 1000,
                corpus=entry.corpus if entry else "",
                synthetic=entry.synthetic if entry else True,
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
            epsilon=float(epsilon) if epsilon and attack in _WITH_EPSILON else None,
            seed=int(seed or 0),
            template=str(template or ""),
            copies=8 if copies is None else int(copies),
            spread=bool(spread),
            text=str(text or "") if attack in _TEXTS else "",
            others=str(others or "") if attack == "membership" else "",
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("A number is missing or is none: fill it in.") from error


def session_of(request: gr.Request | None) -> str:
    """The session that the log knows."""
    return (request.session_hash if request else None) or "none"
