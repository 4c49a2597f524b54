"""Attack: what leaks from everything that the other panels build, with numbers that stand up."""

from typing import Any

import gradio as gr

from app.address import COPY_LINK, AddressField, ChoiceField, Field, ManyField, remember
from app.identity import Curators
from app.panels.attack import endpoints, layout
from app.panels.attack.choosing import Choosing
from app.panels.attack.handlers import Handlers
from app.panels.attack.layout import Layout
from app.panels.attack.stored import Stored
from core.attack.asked import LEAST_EPSILON, MOST_EPSILON
from core.attack.menu import ATTACKS, offered_targets, subjects
from core.attack.targets import TITLES
from core.studio import Studio

# Light handlers pass the queue by, so that a full queue does not keep the page waiting.
_LIGHT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
# What an attack can be aimed at changes while a request waits: values are checked by our own code, which has
# a sentence for each, and not against the choices that a page had at the time.
_RAW: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "preprocess": False}
_RUN: dict[str, Any] = {**_RAW, "concurrency_id": "attack", "concurrency_limit": 2}
_TIME: dict[str, Any] = {**_RAW, "concurrency_id": "attack-time", "concurrency_limit": 1}
# The reports are already in the browser: the file is made there, and the server keeps no copy.
_DOWNLOAD = """() => {
  const found = document.querySelector("#attack-result .attack-file[data-form='%s']");
  if (!found) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([found.textContent], {type: '%s;charset=utf-8'}));
  link.download = found.dataset.name;
  link.click();
  URL.revokeObjectURL(link.href);
}"""
# Whether a person chose the attack, or the address did when the page opened. What the address does not say is
# left to the attack: the page's first values are those of another one.
_ACTED = """(attack, subject, targets, amount, epsilon) => {
  const said = new URL(window.location.href).searchParams;
  const kept = (name, value, none) => window.studioActed || said.has(name) ? value : none;
  return [attack, subject, kept('targets', targets, []), kept('attack_amount', amount, null),
    kept('attack_epsilon', epsilon, null), !!window.studioActed];
}"""


def build(
    demo: gr.Blocks, studio: Studio, curators: Curators, token: gr.BrowserState, tab: gr.Tab
) -> list[Field]:
    """The panel; returns the controls whose values are kept in the address."""
    page = layout.build(subjects(studio.settings))
    does, kept = Handlers(studio, curators), Stored(studio, curators)
    _wire_choices(demo, page, Choosing(does), token, tab)
    _wire_run(page, does, kept, token)
    _wire_kept(demo, page, kept, token, tab)
    endpoints.build(does, kept, {"concurrency_id": "attack", "concurrency_limit": 2})
    return _address(page, studio)


def _wire_choices(
    demo: gr.Blocks, page: Layout, offers: Choosing, token: gr.BrowserState, tab: gr.Tab
) -> None:
    acted = gr.Checkbox(False, visible=False)
    aimed = [page.attack, page.subject, page.targets, page.amount, page.epsilon, acted]
    changed = [
        page.aim, page.subject, page.targets, page.amount, page.epsilon, page.template, page.copies,
        page.spread, page.text, page.others,
    ]  # fmt: skip
    page.attack.change(offers.choose_attack, aimed, changed, js=_ACTED, queue=False, **_RAW)
    page.subject.change(offers.choose_attack, aimed, changed, queue=False, **_RAW)
    timed = [page.attack.change, page.subject.change, page.targets.change, page.amount.change, tab.select]
    gr.on(
        [*timed, page.copies.change, page.template.blur, page.text.blur, page.others.blur, token.change],
        offers.time_attack,
        [token, *page.asked],
        page.estimate,
        trigger_mode="always_last",
        **_TIME,
    )
    demo.load(offers.greet_attack, [token, *page.asked], page.estimate, **_TIME)
    tab.select(offers.names, None, page.subject, **_LIGHT)
    page.copy_settings.click(None, js=COPY_LINK)


def _wire_run(page: Layout, does: Handlers, kept: Stored, token: gr.BrowserState) -> None:
    buttons = [page.run, page.cancel]
    start = page.run.click(_busy, None, buttons, **_LIGHT)
    ran = start.then(does.run_attack, [token, *page.asked], [page.progress, page.result], **_RUN)
    # Gradio calls `then` after success only: a full queue or a lost server must give the buttons back, too.
    ran.then(_idle, None, buttons, **_LIGHT)
    ran.failure(_idle, None, buttons, **_LIGHT)
    ran.then(kept.list_kept, token, [*page.kept, page.share, page.delete], **_LIGHT)
    page.cancel.click(does.cancel_attack, None, page.progress, **_LIGHT)
    page.html.click(None, js=_DOWNLOAD % ("html", "text/html"))
    page.json.click(None, js=_DOWNLOAD % ("json", "application/json"))


def _wire_kept(demo: gr.Blocks, page: Layout, kept: Stored, token: gr.BrowserState, tab: gr.Tab) -> None:
    shown = [*page.kept, page.share, page.delete]
    gr.on([demo.load, tab.select, token.change], kept.list_kept, token, shown, **_LIGHT)
    page.open.click(kept.open_kept, [token, page.chosen], [page.said, page.result], **_LIGHT)
    page.share.click(kept.share_kept, [token, page.chosen], shown, **_LIGHT)
    page.delete.click(kept.delete_kept, [token, page.chosen], shown, **_LIGHT)
    page.revoke.click(kept.revoke_kept, [token, page.link], shown, **_LIGHT)


def _address(page: Layout, studio: Studio) -> list[Field]:
    """The settings in the address; texts and formats are never there."""
    kinds = {*TITLES, "model", *(kind for name in ATTACKS for kind in offered_targets(name, None))}
    fields: list[Field] = [
        ChoiceField("attacked", page.subject, lambda: [entry.name for entry in subjects(studio.settings)]),
        ManyField("targets", page.targets, lambda: kinds),
        AddressField("attack_amount", page.amount, 1, 50_000, whole=True),
        AddressField("attack_epsilon", page.epsilon, LEAST_EPSILON, MOST_EPSILON),
        AddressField("attack_seed", page.seed, 0, 2**31 - 1, whole=True),
        # The last: what follows a change of the attack reads the others as the address has set them.
        ChoiceField("attack", page.attack, lambda: ATTACKS),
    ]
    for field in fields:
        remember(field)
    return fields


def _busy() -> tuple[Any, Any]:
    return gr.update(interactive=False), gr.update(interactive=True)


def _idle() -> tuple[Any, Any]:
    return gr.update(interactive=True), gr.update(interactive=False)
