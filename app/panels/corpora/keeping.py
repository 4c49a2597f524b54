"""What happens to an ensemble on a click: renamed, or deleted after a question."""

import gradio as gr

from app.components.markup import notice
from app.panels.corpora import look
from app.panels.corpora.desk import Changes, Desk, for_curators, problem, shown
from core.catalogue import delete_ensemble, rename_ensemble
from core.errors import StudioError


class Keeping(Desk):
    """The list of ensembles."""

    @for_curators
    def rename(self, token: str, request: gr.Request, name: str, new: str) -> Changes:
        """Call an ensemble something else; its budget keeps its name."""
        wanted = str(new or "").strip()
        try:
            with self.noted(request, "rename", str(name)):
                self.refuse_in_training(name)
                rename_ensemble(self.studio.settings, str(name), wanted, budgets=self.budgets())
        except StudioError as error:
            return {self.page.renamed: problem(error)}
        said = f"'{name}' is called '{wanted}' now. In the ledger its budget keeps its name."
        return {**self.kept(wanted), self.page.renamed: notice(said, kind="done"), self.page.new_name: ""}

    @for_curators
    def ask(self, token: str, name: str) -> Changes:
        """Before deleting: what that does, and what it does not."""
        try:
            entry = self.studio.entry(str(name))
        except StudioError as error:
            return {self.page.renamed: problem(error)}
        return {
            self.page.confirm: shown(True),
            self.page.confirming: entry.name,
            self.page.question: look.delete_question(entry, self.budgets().get(entry.corpus)),
            self.page.renamed: "",
        }

    @for_curators
    def delete(self, token: str, request: gr.Request, name: str) -> Changes:
        """Delete the ensemble that was asked about."""
        closed: Changes = {self.page.confirm: shown(False), self.page.confirming: ""}
        try:
            with self.noted(request, "delete", str(name)):
                self.refuse_in_training(name)
                delete_ensemble(self.studio.settings, str(name))
        except StudioError as error:
            return {**closed, self.page.renamed: problem(error)}
        said = f"'{name}' is deleted. Its budget stays in the ledger."
        return {**closed, **self.kept(), self.page.renamed: notice(said, kind="done")}

    @for_curators
    def keep(self, token: str) -> Changes:
        """Delete nothing."""
        return {self.page.confirm: shown(False), self.page.confirming: ""}
