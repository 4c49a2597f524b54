"""The components of Sanitize, in the order of the page."""

from dataclasses import dataclass

import gradio as gr
from gradio.blocks import Block

from app.panels.sanitize.look import EMPTY, NO_FACTS, NOT_YET
from app.panels.sanitize.scale import EPSILONS, FIRST
from core.sanitize import ENDINGS

EXAMPLES = {
    "A ward note": (
        "Mary Brown, 47, was admitted on 12 March 2019 with a fever of 39.2. Her patient ID is 145572; write "
        "to mary.brown@example.com or call 0113 496 0182. Dr Patel gave her 500 mg of paracetamol at 9 pm, "
        "and her sister Anna from Leeds took the keys of the house home."
    ),
    "A support ticket": (
        "Hello, this is Tom from Dublin. My card 4111 1111 1111 1111 was charged 24.50 twice on 3 May, order "
        "88213. Please answer to tom.kelly@example.org before Friday. My password hint is the name of my dog."
    ),
    "Meeting notes": (
        "Present: Julia, Ahmed and Karen. The offer of 2.4 million for the Lyon office was refused; Ahmed "
        "resigns on 30 June for health reasons. Next meeting on Tuesday at 10 in room 204."
    ),
}
POLICY_CHIPS = {
    "digits": "Digits",
    "patterns": "Patterns: e-mail, card, phone",
    "own": "My own words",
    "context": "Context of a secret",
    "all": "Every word",
}
NOISES = {
    "euclidean": "Euclidean (Feyisetan et al., the default)",
    "mahalanobis": "Mahalanobis (Xu et al.)",
    "tem": "Truncated exponential (Carvalho et al.)",
}
OPENING_CHIPS = ["digits", "patterns"]


@dataclass(frozen=True)
class Layout:
    """Everything that handlers read or write."""

    text: gr.Textbox
    examples: tuple[gr.Button, ...]
    chips: gr.CheckboxGroup
    own: gr.Textbox
    context_said: gr.HTML
    step: gr.Slider
    meaning: gr.HTML
    live: gr.HTML
    noise: gr.Dropdown
    consistent: gr.Checkbox
    rewrite: gr.Button
    said: gr.HTML
    results: gr.HTML
    copy: gr.Button
    download: gr.Button
    copy_link: gr.Button
    facts: gr.HTML
    which: gr.Radio
    undo: gr.Button
    give_up: gr.Button
    undone: gr.HTML
    file: gr.File
    column: gr.Textbox
    rewrite_file: gr.Button
    cancel_file: gr.Button
    file_said: gr.HTML
    file_download: gr.DownloadButton
    kept: gr.State
    detector: gr.State

    @property
    def asked(self) -> list[Block]:
        """What says which words are perturbed, and how."""
        return [self.chips, self.own, self.step, self.noise, self.consistent, self.detector]


def build(has_detector: bool) -> Layout:
    """Text and choices, results side by side with the facts, the attack, files."""
    chips = [(words, name) for name, words in POLICY_CHIPS.items() if name != "context" or has_detector]
    gr.HTML(
        '<p class="lead">Rewrites the sensitive words of a text so that each could plausibly have been '
        "another one. You choose which words are sensitive and how far they may move; an attack shows what "
        "would come back.</p>"
    )
    with gr.Row(elem_id="sanitize-top"):
        with gr.Column(scale=3, min_width=320):
            text = gr.Textbox(
                next(iter(EXAMPLES.values())),
                label="Your text",
                lines=11,
                max_lines=16,
                elem_id="sanitize-text",
            )
            with gr.Row(elem_classes="examples-row"):
                examples = tuple(gr.Button(label, size="sm") for label in EXAMPLES)
        with gr.Column(scale=2, min_width=320):
            chosen = gr.CheckboxGroup(
                chips, value=OPENING_CHIPS, label="Which words are sensitive", elem_id="sanitize-chips"
            )
            own = gr.Textbox(
                label="My own words",
                info="One word, phrase or /regular expression/ on each line.",
                lines=3,
                max_lines=8,
                visible=False,
                elem_id="sanitize-own",
            )
            context_said = gr.HTML(elem_id="sanitize-context")
            step = gr.Slider(
                0,
                len(EPSILONS) - 1,
                FIRST,
                step=1,
                label="Epsilon",
                info="Left hides more, right keeps more of the text.",
                buttons=[],
                elem_id="sanitize-epsilon",
            )
            meaning = gr.HTML(NOT_YET, elem_id="sanitize-meaning")
    live = gr.HTML(elem_id="sanitize-live")
    with gr.Row(elem_id="sanitize-go", elem_classes="action-row"):
        rewrite = gr.Button("Rewrite", variant="primary", elem_id="rewrite", scale=0, min_width=220)
    said = gr.HTML(elem_id="sanitize-said")
    results = gr.HTML(EMPTY, elem_id="sanitize-results")
    with gr.Row(elem_classes="examples-row"):
        copy = gr.Button("Copy the text", size="sm", elem_id="sanitize-copy")
        download = gr.Button("Download the text", size="sm", elem_id="sanitize-download")
        copy_link = gr.Button("Copy link to these settings", size="sm")
    with gr.Row(elem_id="sanitize-below"):
        with gr.Column(scale=1, min_width=320):
            facts = gr.HTML(NO_FACTS, elem_id="sanitize-facts")
        with gr.Column(scale=1, min_width=320, elem_id="sanitize-undo"):
            which, undo, give_up, undone = _undo()
    noise, consistent = _more()
    file, column, rewrite_file, cancel_file, file_said, file_download = _files()
    kept, detector = gr.State(None, time_to_live=3600), gr.State(None, time_to_live=3600)
    return Layout(
        text, examples, chosen, own, context_said, step, meaning, live, noise, consistent, rewrite, said,
        results, copy, download, copy_link, facts, which, undo, give_up, undone, file, column, rewrite_file,
        cancel_file, file_said, file_download, kept, detector,
    )  # fmt: skip


def _undo() -> tuple[gr.Radio, gr.Button, gr.Button, gr.HTML]:
    gr.HTML(
        '<h2>Try to undo it</h2><p class="lead">An attacker who knows the mechanism and its epsilon sees the '
        "result and guesses with the public language model.</p>"
    )
    which = gr.Radio(
        [("The chosen words", "chosen"), ("Every word", "every")],
        value="chosen",
        label="Attack",
        elem_id="sanitize-which",
    )
    with gr.Row():
        undo = gr.Button("Try to undo it", elem_id="undo", scale=0, min_width=160)
        give_up = gr.Button("Stop", interactive=False, elem_id="undo-stop", scale=0, min_width=100)
    return which, undo, give_up, gr.HTML(elem_id="undone")


def _more() -> tuple[gr.Dropdown, gr.Checkbox]:
    with gr.Accordion("How words are perturbed", open=False), gr.Row():
        with gr.Column(min_width=260):
            noise = gr.Dropdown(
                [(words, name) for name, words in NOISES.items()],
                value="euclidean",
                label="Mechanism",
                info="Each has its own guarantee, which is said beside the result.",
                filterable=False,
            )
        with gr.Column(min_width=260):
            consistent = gr.Checkbox(
                False,
                label="Same word, same replacement",
                info="One draw for all uses of a word: easier to read, and it shows which were equal.",
            )
    return noise, consistent


def _files() -> tuple[gr.File, gr.Textbox, gr.Button, gr.Button, gr.HTML, gr.DownloadButton]:
    with gr.Accordion("Files", open=False, elem_id="sanitize-files"):
        gr.HTML(
            '<p class="lead">Text, a column of a CSV file, a field of JSON Lines, or a zip of text files. '
            "The choices above hold here, too. The upload is deleted once it is rewritten.</p>"
        )
        with gr.Row():
            file = gr.File(
                label="File", file_types=list(ENDINGS), type="filepath", height=140, elem_id="sanitize-file"
            )
            with gr.Column(min_width=280):
                column = gr.Textbox(
                    label="Column or field",
                    info="Empty: found by its name and content.",
                    max_lines=1,
                    elem_id="sanitize-column",
                )
                with gr.Row():
                    rewrite = gr.Button("Rewrite the file", elem_id="rewrite-file", scale=0, min_width=170)
                    cancel = gr.Button(
                        "Cancel", interactive=False, elem_id="cancel-file", scale=0, min_width=100
                    )
        said = gr.HTML(elem_id="file-said")
        with gr.Row():
            download = gr.DownloadButton(
                "Download", visible=False, elem_id="file-download", size="md", scale=0, min_width=280
            )
    return file, column, rewrite, cancel, said, download
