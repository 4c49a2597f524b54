"""The components of Attack, in the order of the page."""

from dataclasses import dataclass

import gradio as gr

from app.panels.attack.look import EMPTY, EPSILONS, limits_of
from core.attack.menu import ATTACKS, offered_targets, usual_epsilon, usual_targets
from core.catalogue import Entry
from core.corpus.canaries import TEMPLATE

FIRST = "secrets"
# The list of links is drawn by the server; its buttons copy the whole address, which the browser knows.
COPYING = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('.attack-copy');
  if (!button) return;
  studioCopy(new URL(`report/${button.dataset.token}`, window.location.href).href, "The link is copied.");
});
"""


@dataclass(frozen=True)
class Layout:
    """Everything that handlers read or write."""

    attack: gr.Radio
    aim: gr.Column
    subject: gr.Dropdown
    targets: gr.CheckboxGroup
    amount: gr.Number
    epsilon: gr.Number
    seed: gr.Number
    template: gr.Textbox
    copies: gr.Number
    spread: gr.Checkbox
    text: gr.Textbox
    others: gr.Textbox
    estimate: gr.HTML
    run: gr.Button
    cancel: gr.Button
    progress: gr.HTML
    result: gr.HTML
    html: gr.Button
    json: gr.Button
    copy_settings: gr.Button
    stored: gr.HTML
    chosen: gr.Dropdown
    open: gr.Button
    share: gr.Button
    delete: gr.Button
    keeping: gr.Row
    links: gr.HTML
    link: gr.Dropdown
    revoke: gr.Button
    sharing: gr.Row
    said: gr.HTML

    @property
    def asked(self) -> list[gr.components.Component]:
        """The controls that say what is attacked and how."""
        return [
            self.attack, self.subject, self.targets, self.amount, self.epsilon, self.seed, self.template,
            self.copies, self.spread, self.text, self.others,
        ]  # fmt: skip

    @property
    def kept(self) -> list[gr.components.Component | gr.Row]:
        """What shows the stored runs and links."""
        return [
            self.said, self.stored, self.chosen, self.keeping, self.links, self.link, self.sharing,
        ]  # fmt: skip


def build(entries: tuple[Entry, ...]) -> Layout:
    """What is attacked, the button, what was found, and what is kept."""
    gr.HTML(
        '<p class="lead">Attacks what the other panels build, and says in plain words what leaks: with no '
        "protection, and with it. Protected targets pay from a copy of their budget made for the attack; the "
        "corpus' own ledger is not touched.</p>"
    )
    attack = gr.Radio(
        [(each.title, name) for name, each in ATTACKS.items()],
        value=FIRST,
        label="Attack",
        elem_id="attack-kind",
    )
    with gr.Row(elem_id="attack-top"):
        with gr.Column(scale=3, min_width=320) as aim:
            subject, targets = _aim(entries)
        with gr.Column(scale=2, min_width=280), gr.Row():
            usual = ATTACKS[FIRST]
            amount = gr.Number(
                usual.usual,
                precision=0,
                label=usual.amount,
                info=limits_of(usual),
                min_width=130,
                elem_id="attack-amount",
            )
            epsilon = gr.Number(
                usual_epsilon(FIRST, entries[0] if entries else None),
                label="Epsilon",
                info=EPSILONS,
                min_width=130,
                elem_id="attack-epsilon",
            )
    with gr.Accordion("More settings", open=False, elem_id="attack-fold"):
        seed, template, copies, spread, text, others = _more()
    estimate = gr.HTML(elem_id="attack-estimate")
    with gr.Row(elem_id="attack-go"):
        run = gr.Button("Run the attack", variant="primary", elem_id="attack-run", min_width=160)
        cancel = gr.Button("Cancel", interactive=False, elem_id="attack-cancel", min_width=90)
    progress = gr.HTML(elem_id="attack-progress")
    result = gr.HTML(EMPTY, elem_id="attack-result")
    with gr.Row(elem_classes="examples-row"):
        html = gr.Button("Download report (HTML)", size="sm", elem_id="attack-html")
        json = gr.Button("Download report (JSON)", size="sm", elem_id="attack-json")
        copy_settings = gr.Button("Copy link to these settings", size="sm", elem_id="attack-settings")
    return Layout(
        attack, aim, subject, targets, amount, epsilon, seed, template, copies, spread, text, others,
        estimate, run, cancel, progress, result, html, json, copy_settings, *_kept(),
    )  # fmt: skip


def _aim(entries: tuple[Entry, ...]) -> tuple[gr.Dropdown, gr.CheckboxGroup]:
    entry = entries[0] if entries else None
    subject = gr.Dropdown(
        [each.name for each in entries],
        value=entry.name if entry else None,
        label="What was trained",
        filterable=False,
        elem_id="attack-subject",
    )
    targets = gr.CheckboxGroup(
        [(words, kind) for kind, words in offered_targets(FIRST, entry).items()],
        value=usual_targets(FIRST, entry),
        label="Targets",
        elem_id="attack-targets",
    )
    return subject, targets


def _more() -> tuple[gr.Number, gr.Textbox, gr.Number, gr.Checkbox, gr.Textbox, gr.Textbox]:
    template = gr.Textbox(
        TEMPLATE,
        label="Format of the canaries",
        info="Holes: {digits:4}, {letters:3}, {words:2}. # is another word for every canary.",
        max_lines=1,
        visible=False,
        elem_id="attack-template",
    )
    with gr.Row():
        copies = gr.Number(8, precision=0, label="Copies of each", visible=False, min_width=130)
        spread = gr.Checkbox(
            False,
            label="Spread over users",
            info="Otherwise all copies are with one user.",
            visible=False,
            min_width=200,
        )
        seed = gr.Number(
            0,
            precision=0,
            label="Seed",
            info="Of the experiment, never of the mechanism.",
            min_width=160,
            elem_id="attack-seed",
        )
    text = gr.Textbox("", label="Text", lines=3, max_lines=10, elem_id="attack-text")
    others = gr.Textbox("", label="Others", lines=3, max_lines=10, visible=False, elem_id="attack-others")
    return seed, template, copies, spread, text, others


def _kept() -> tuple[
    gr.HTML,
    gr.Dropdown,
    gr.Button,
    gr.Button,
    gr.Button,
    gr.Row,
    gr.HTML,
    gr.Dropdown,
    gr.Button,
    gr.Row,
    gr.HTML,
]:
    with gr.Accordion("Stored runs and shared reports", open=False, elem_id="attack-kept"):
        said = gr.HTML(elem_id="attack-said")
        stored = gr.HTML(elem_id="attack-runs")
        with gr.Row(visible=False, elem_id="attack-keeping") as keeping:
            chosen = gr.Dropdown(
                [], label="Run", filterable=False, elem_id="attack-chosen", scale=3, min_width=260
            )
            open_run = gr.Button("Open", elem_id="attack-open", min_width=90)
            share = gr.Button("Share by a link", elem_id="attack-share", min_width=130)
            delete = gr.Button("Delete", elem_id="attack-delete", min_width=90)
        links = gr.HTML(elem_id="attack-links", js_on_load=COPYING)
        with gr.Row(visible=False, elem_id="attack-sharing") as sharing:
            link = gr.Dropdown(
                [], label="Link", filterable=False, elem_id="attack-link", scale=3, min_width=260
            )
            revoke = gr.Button("Revoke", elem_id="attack-revoke", min_width=90)
    return stored, chosen, open_run, share, delete, keeping, links, link, revoke, sharing, said
