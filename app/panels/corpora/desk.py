"""What all handlers of Corpora share: who may, what is shown now, and the note in the session log."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import gradio as gr
from gradio.blocks import Block

from app.components.markup import notice
from app.identity import Curators
from app.noting import Noted, session_of
from app.panels.corpora import look
from app.panels.corpora.layout import Layout
from core.curator.status import JobStatus
from core.errors import InputError, StudioError
from core.store import Budget
from core.studio import Studio

Changes = dict[Block, Any]
Handler = Callable[..., Changes]


def for_curators(handler: Handler) -> Handler:
    """Without a curator's token nothing is done and nothing is told; the page is what a visitor sees."""

    @wraps(handler)
    def checked(self: "Desk", token: str, *values: Any) -> Changes:
        return handler(self, token, *values) if self.curators.knows(token) else self.visitor()

    return checked


class Desk:
    """One panel. Handlers take the token first and give the components that change."""

    def __init__(self, studio: Studio, curators: Curators, page: Layout) -> None:
        self.studio, self.curators, self.page, self.jobs = studio, curators, page, studio.jobs

    def visitor(self) -> Changes:
        """The panel for everyone: what can be asked, and nothing of the curator's."""
        page, password = self.page, self.studio.settings.curator_password is not None
        hidden: tuple[Block, ...] = (page.desk, page.keeping, page.plan, page.confirm)
        emptied = (page.status, page.said, page.report, page.guidance, page.estimate, page.refused)
        return {
            page.gate: look.gate_html(False, password),
            page.listed: look.ensembles_html(self.studio.ensembles(), self.budgets(), curator=False),
            **{each: shown(False) for each in hidden},
            **dict.fromkeys((*emptied, page.question, page.renamed), ""),
            page.timer: gr.update(active=False),
        }

    @for_curators
    def open_desk(self, token: str) -> Changes:
        """The panel as it is now: found again after a reload, by whoever signs in."""
        return {
            self.page.gate: look.gate_html(True, True),
            self.page.desk: shown(True),
            **self.training(),
            **self.kept(),
        }

    def kept(self, chosen: str | None = None) -> Changes:
        """The text that waits, and the list of ensembles."""
        page, entries, upload = self.page, self.studio.ensembles(), self.jobs.waiting()
        own = [entry.name for entry in entries if not entry.shipped]
        value = chosen if chosen in own else next(iter(own), None)
        return {
            page.said: look.waiting_html(upload),
            **self.waits(upload is not None),
            page.listed: look.ensembles_html(entries, self.budgets(), curator=True),
            page.keeping: shown(bool(own)),
            page.ensemble: gr.update(choices=own, value=value),
        }

    def waits(self, waiting: bool) -> Changes:
        """The buttons of a text that waits; without one there is nothing to plan."""
        page = self.page
        changes: Changes = {page.read: shown(waiting), page.forget: shown(waiting)}
        return changes if waiting else {**changes, page.plan: shown(False)}

    def status(self) -> JobStatus | None:
        """The training that is shown."""
        return next(iter(self.jobs.statuses()), None)

    def training(self) -> Changes:
        """The training, its buttons, and the steps to another one where none is unfinished."""
        page, status = self.page, self.status()
        going, kept = status is not None and status.going, status is not None and status.kept
        return {
            page.status: look.status_html(status),
            page.job: status.id if status else "",
            page.stop: shown(going),
            page.resume: shown(kept),
            page.discard: shown(kept),
            page.steps: shown(not going and not kept),
            page.timer: gr.update(active=going),
        }

    def budgets(self) -> dict[str, Budget]:
        """The budgets in the ledger by the corpus' name; none where it cannot be read."""
        if self.studio.store is None:
            return {}
        ledger = self.studio.store.ledger
        try:
            found = {name: ledger.budget(name) for name in ledger.corpora()}
        except StudioError:
            return {}
        return {name: budget for name, budget in found.items() if budget is not None}

    def has_private(self) -> bool:
        """Whether there is a private corpus here, or was one: another text may share people with it."""
        trained = any(not entry.synthetic for entry in self.studio.ensembles())
        return trained or any(not budget.synthetic for budget in self.budgets().values())

    def refuse_in_training(self, name: str) -> None:
        """What is being trained is neither renamed nor deleted under its training."""
        if self.jobs.busy_with(name):
            raise InputError(f"'{name}' is being trained. Stop it first, or wait.")

    def noted(self, request: gr.Request, action: str, corpus: str = "") -> Noted:
        """A line of the session log for what the block does; never what is in a text."""
        return Noted(self.studio, session_of(request), "corpora", action, corpus=corpus)


def shown(visible: bool) -> Any:
    """An update that shows or hides a component."""
    return gr.update(visible=visible)


def problem(error: StudioError) -> str:
    """A refusal, in its own words."""
    return notice(str(error), kind="problem")
