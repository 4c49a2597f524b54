"""What happens on a click: rewriting a text, and trying to undo it. Nothing is cached."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.components.markup import escape, notice
from app.components.progress import progress_html
from app.components.working import Working
from app.noting import Noted, session_of
from app.panels.sanitize.look import Column, examples_html, facts_html, meaning_html, results_html
from app.panels.sanitize.scale import epsilon_at
from app.panels.sanitize.undone import undone_html
from core.attack.sanitised.reconstruction import Reconstruction, reconstruct
from core.attack.watch import Reached
from core.errors import InputError, StudioError
from core.sanitize import AllWords, Digits, Mechanism, Sanitized, sanitize
from core.sanitizing import Asked, Sanitizer, check_text
from core.studio import Studio

EXAMPLE = "The nurse gave Mary 40 mg at 9 pm and wrote to her brother in Leeds."
ATTACKED = 120  # perturbed words at most, at about a second each
_EXPLAINED = 40  # different words whose neighbours are looked up
_NEIGHBOURS = 4
_NOTHING = "Rewrite a text first; then there is something to undo."


@dataclass(frozen=True)
class Kept:
    """The results on the page, in the memory of this session: what an attack is run on."""

    columns: tuple[Column, ...]
    mechanism: Mechanism

    def result(self, which: str) -> Sanitized:
        """The chosen words, or every word."""
        return self.columns[-1 if which == "every" else 0].result


class Handlers:
    """The panel's handlers over one sanitizer."""

    def __init__(self, studio: Studio, sanitizer: Sanitizer) -> None:
        self.studio, self.sanitizer = studio, sanitizer
        self.running: dict[str, threading.Event] = {}  # what a session may stop

    def mean(self, step: float, noise: str) -> tuple[str, str]:
        """What the slider means, and a sentence at that epsilon."""
        epsilon = epsilon_at(step)
        try:
            mechanism = self.sanitizer.mechanism(noise, epsilon)
            drawn = [
                ("Every word:", sanitize(EXAMPLE, mechanism, AllWords())),
                ("Digits only:", sanitize(EXAMPLE, mechanism, Digits())),
            ]
            return meaning_html(epsilon, self.sanitizer.stays(noise, epsilon)), examples_html(drawn)
        except StudioError as error:
            return notice(str(error), kind="problem"), ""

    def rewrite(
        self,
        text: str,
        chips: list[str],
        own: str,
        step: float,
        noise: str,
        consistent: bool,
        detector: Any,
        request: gr.Request,
    ) -> Iterator[tuple[Any, ...]]:
        """Both results side by side, and again once the neighbours of the words are known.

        In the order of the page: what is said, the results, the facts, what is kept, what was undone.
        """
        try:
            with self.noted(request, "sanitize", text):
                asked = asked_from(chips, own, step, noise, consistent, detector)
                kept, facts = self._rewritten(text, asked)
        except StudioError as error:
            yield notice(str(error), kind="problem"), gr.skip(), gr.skip(), gr.skip(), gr.skip()
            return
        yield "", results_html(kept.columns, {}), facts, kept, ""
        near = self._neighbours([column.result for column in kept.columns])
        yield "", results_html(kept.columns, near), facts, kept, ""

    def undo(self, kept: Kept | None, which: str, request: gr.Request) -> Iterator[str]:
        """Attack a result and say how far it is; ends with the verdict."""
        if kept is None:
            yield notice(_NOTHING)
            return
        result = kept.result(which)
        try:
            with self.noted(request, "undo", result.source), self.stoppable(request) as stop:
                if not self.studio.ready:
                    yield notice("Loading the language model, a few seconds the first time.")
                attack = Working[Reached, Reconstruction](
                    lambda progress, cancelled: reconstruct(
                        result,
                        kept.mechanism,
                        public=self.studio.public(),
                        most=ATTACKED,
                        progress=progress,
                        cancelled=cancelled,
                    ),
                    stop,
                )
                for reached in attack:
                    yield progress_html(reached.share, f"Undoing {reached.doing}", reached.seconds_left)
                found = attack.result
        except StudioError as error:
            yield notice(str(error), kind="problem")
            return
        yield undone_html(result, found)

    def stop(self, request: gr.Request) -> None:
        """Stop what runs for this session; it says so itself."""
        running = self.running.get(session_of(request))
        if running is not None:
            running.set()

    @contextmanager
    def stoppable(self, request: gr.Request) -> Iterator[threading.Event]:
        """An event that `stop` sets while the block runs."""
        stop, session = threading.Event(), session_of(request)
        self.running[session] = stop
        try:
            yield stop
        finally:
            stop.set()
            if self.running.get(session) is stop:
                del self.running[session]

    def noted(self, request: gr.Request | None, action: str, text: str | None = None) -> Noted:
        """A line of the session log for what the block does."""
        return Noted(self.studio, session_of(request), "sanitize", action, text=text)

    def _rewritten(self, text: str, asked: Asked) -> tuple[Kept, str]:
        check_text(text)
        policy = self.sanitizer.policy(asked.policies, asked.own, asked.detector)
        mechanism = self.sanitizer.mechanism(asked.noise, asked.epsilon)
        chosen = sanitize(text, mechanism, policy, consistent=asked.consistent)
        every = AllWords()
        columns = [Column("chosen", "Every word (MDP)", chosen)]
        if not isinstance(policy, AllWords):
            columns = [
                Column("chosen", "The chosen words (SMDP)", chosen),
                Column(
                    "every", "Every word (MDP)", sanitize(text, mechanism, every, consistent=asked.consistent)
                ),
            ]
        stays = self.sanitizer.stays(asked.noise, asked.epsilon)
        return Kept(tuple(columns), mechanism), facts_html(chosen, mechanism, policy, stays)

    def _neighbours(self, results: Sequence[Sanitized]) -> dict[str, list[tuple[str, float]]]:
        """The nearest words of the first perturbed ones."""
        sources = [
            piece.source
            for result in results
            for piece in result.pieces
            if piece.state not in ("plain", "oov")
        ]
        vocabulary = self.sanitizer.vocabulary
        return {
            source: vocabulary.neighbours(source, _NEIGHBOURS)
            for source in list(dict.fromkeys(sources))[:_EXPLAINED]
        }


def asked_from(
    chips: Sequence[str], own: str, step: float, noise: str, consistent: bool, detector: Any = None
) -> Asked:
    """What the controls say, as the core understands it."""
    if not chips:
        raise InputError(
            "Choose which words are sensitive: digits, patterns, words of your own, or every word."
        )
    return Asked(epsilon_at(step), tuple(chips), own or "", noise, bool(consistent), detector)


def context_html(chips: Sequence[str], detector: Any) -> str:
    """Which detector the policy `context` asks, where it is chosen."""
    if "context" not in chips:
        return ""
    whose = "the shipped detector, from its own threshold on"
    if detector is not None:
        whose = (
            f"the detector as set on Detect ({detector.name}, from a score of {detector.threshold:.2f} on)"
        )
    said = (
        f"Sensitive: every word of the sentences that {whose}, flags. The panel Detect shows which and why."
    )
    return f'<p class="small">{escape(said)}</p>'
