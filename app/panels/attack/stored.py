"""Stored runs and shared reports: who may see them, open, share, revoke and delete them."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from app.components.markup import notice
from app.identity import Curators
from app.noting import Noted, session_of
from app.panels.attack.look import day, label_of, links_html, run_html, runs_html
from core.attack.kept.links import Link, forget_links_of, list_links, make_link, revoke_link
from core.attack.kept.runs import Run
from core.attack.kept.storage import delete_run, list_runs, load_run
from core.errors import InputError, StudioError
from core.studio import Studio

NOT_YOURS = "This run is on private text and is for the curator: sign in at the foot of the page."
NOT_SHARED = "Sharing, revoking and deleting are for the curator: sign in at the foot of the page."
Shown = tuple[Any, ...]


class Stored:
    """A visitor sees the runs on synthetic text. Where there is no password, whoever is here owns them."""

    def __init__(self, studio: Studio, curators: Curators) -> None:
        self.studio, self.curators = studio, curators

    def list_kept(self, token: str, said: str = "") -> Shown:
        """What is kept, as this reader may see it."""
        try:
            runs, links = self.runs(token), self.links(token)
        except StudioError as error:
            return self._page((), (), notice(str(error), kind="problem"), owner=False)
        return self._page(runs, links, said, owner=self.owns(token))

    def open_kept(self, token: str, run_id: str | None) -> tuple[str, Any]:
        """What is said, and the run in the place of the newest result."""
        try:
            return "", run_html(self.run(token, run_id))
        except StudioError as error:
            return notice(str(error), kind="problem"), gr.skip()

    def share_kept(self, token: str, run_id: str | None, request: gr.Request) -> Shown:
        """A new link to a run."""

        def make() -> str:
            self._check_owner(token)
            make_link(self.studio.settings, self.run(token, run_id).id)
            return "The report has a link now: copy it from the list below."

        return self._changed(token, "share", make, request)

    def revoke_kept(self, token: str, link: str | None, request: gr.Request) -> Shown:
        """End a link."""

        def end() -> str:
            self._check_owner(token)
            if not any(each.token == link for each in self.links(token)):
                raise InputError("Choose a link first.")
            revoke_link(self.studio.settings, str(link))
            return "The link is revoked: it leads nowhere now."

        return self._changed(token, "revoke", end, request)

    def delete_kept(self, token: str, run_id: str | None, request: gr.Request) -> Shown:
        """Delete a run and its links."""

        def forget() -> str:
            self._check_owner(token)
            found = self.run(token, run_id)
            delete_run(self.studio.settings, found.id)
            forget_links_of(self.studio.settings, found.id)
            return "The run is deleted, and so are its links."

        return self._changed(token, "delete", forget, request)

    def runs(self, token: object) -> tuple[Run, ...]:
        """The runs that this reader may see."""
        curator = self.curators.knows(token)
        return tuple(run for run in list_runs(self.studio.settings) if run.synthetic or curator)

    def run(self, token: object, run_id: str | None) -> Run:
        """One run, if this reader may see it."""
        if not run_id:
            raise InputError("Choose a run first.")
        found = load_run(self.studio.settings, str(run_id))
        if not found.synthetic and not self.curators.knows(token):
            raise InputError(NOT_YOURS)
        return found

    def links(self, token: object) -> tuple[Link, ...]:
        """The links to runs that this reader may see; a link is a secret, and for owners."""
        if not self.owns(token):
            return ()
        seen = {run.id for run in self.runs(token)}
        return tuple(link for link in list_links(self.studio.settings) if link.run in seen)

    def owns(self, token: object) -> bool:
        """Whether this reader may share and delete."""
        return self.studio.settings.curator_password is None or self.curators.knows(token)

    def _check_owner(self, token: object) -> None:
        if not self.owns(token):
            raise InputError(NOT_SHARED)

    def _changed(self, token: str, action: str, change: Callable[[], str], request: gr.Request) -> Shown:
        try:
            with Noted(self.studio, session_of(request), "attack", action):
                said = notice(change(), kind="done")
        except StudioError as error:
            said = notice(str(error), kind="problem")
        return self.list_kept(token, said)

    def _page(self, runs: tuple[Run, ...], links: tuple[Link, ...], said: str, *, owner: bool) -> Shown:
        titles = {run.id: label_of(run) for run in runs}
        chosen = [(titles[run.id], run.id) for run in runs]
        shared = [(f"{titles[link.run]}, shared {day(link.created)}", link.token) for link in links]
        return (
            said,
            runs_html(runs),
            gr.update(choices=chosen, value=chosen[0][1] if chosen else None),
            gr.update(visible=bool(runs)),
            links_html(links, runs) if owner else "",
            gr.update(choices=shared, value=shared[0][1] if shared else None),
            gr.update(visible=bool(shared)),
            gr.update(visible=owner),
            gr.update(visible=owner),
        )
