"""An answer in the making: takes frames, gives the pieces of the page. Formats, computes nothing private."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.components.meter import Reading
from app.components.ribbon import Cost, token_html
from app.panels.predict.answers import PUBLIC, UNPROTECTED, Column, answers_html, protected_column
from app.panels.predict.view import View
from core.corpus.leaks import asked_for, find_leaks
from core.corpus.ward_secrets import DemoSecret
from core.predict.account import Drawn
from core.predict.compare import Frame
from core.predict.generate import Released
from core.predict.verdict import Outcome


@dataclass
class Sheet:
    """What is on the page while an answer is drawn. `secrets` are looked for on synthetic corpora only."""

    view: View
    prompt: str
    compared: bool
    secrets: Sequence[DemoSecret] = ()
    ribbon: str = ""
    tokens: int = 0
    from_public: int = 0
    problem: str = ""
    reading: Reading = field(init=False)
    protected: Column = field(init=False)
    unprotected: Column = UNPROTECTED
    public: Column = PUBLIC

    def __post_init__(self) -> None:
        self.reading = self.view.reading
        self.protected = protected_column(self.view.state.protocol)

    def take(self, frame: Frame) -> None:
        """One more token of each answer."""
        if frame.protected is not None:
            self._protected(frame.protected, frame.drawn)
        self.unprotected = self._grown(self.unprotected, frame.unprotected)
        self.public = self._grown(self.public, frame.public)

    @property
    def answers(self) -> str:
        """The columns as HTML."""
        columns = [self.protected, self.unprotected, self.public]
        return answers_html(self.prompt, columns if self.compared else [self.protected, self.public])

    def outcome(self, cost: float) -> Outcome:
        """What there is to say at the end; `cost` is left out where it may not be seen."""
        return Outcome(
            tokens=self.tokens,
            from_public=self.from_public,
            epsilon=self.reading.epsilon,
            used=self.reading.used,
            queries=self.reading.queries,
            cost=cost if self.view.exact else None,
            compared=self.compared and bool(self.secrets),
            asked=asked_for(self.prompt, self.secrets),
            protected=self.protected.leaks,
            unprotected=self.unprotected.leaks,
            public=self.public.leaks,
            problem=self.problem,
            accounted=self.reading.protected,
        )

    def _protected(self, released: Released, drawn: Drawn | None) -> None:
        if released.public and self.protected.public_from is None:
            self.protected = replace(self.protected, public_from=len(self.protected.text))
        self.protected = self._grown(self.protected, released)
        self.tokens += 1
        self.from_public += released.public
        self.reading = replace(self.reading, used=max(released.used, self.reading.used))
        if drawn is not None:
            self._account(released.text, drawn)

    def _account(self, text: str, drawn: Drawn) -> None:
        """The exact side, which only a frame that was not cut for visitors has."""
        self.problem = drawn.problem or self.problem
        if drawn.step is None and not drawn.problem:
            self.reading = replace(self.reading, stopped=True)
        cost = Cost(0.0, 0.0, public=True)
        if drawn.step is not None:
            remaining = tuple(float(left) for left in drawn.step.remaining)
            history = (*self.reading.history, (drawn.used, min(remaining)))
            self.reading = replace(self.reading, remaining=remaining, history=history)
            cost = Cost(float(drawn.step.losses.max()), float(drawn.step.weights.mean()), public=False)
        self.ribbon += token_html(text, cost, self.view.even_pace)

    def _grown(self, column: Column, released: Released | None) -> Column:
        if released is None:
            return column
        text = column.text + released.text
        return replace(column, text=text, leaks=find_leaks(self.prompt, text, self.secrets))
