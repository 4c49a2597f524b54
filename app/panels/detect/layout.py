"""The components of Detect, in the order of the page."""

from dataclasses import dataclass

import gradio as gr

from app.panels.detect.look import EMPTY
from app.panels.detect.why import PICK
from core.context.detector import SHIPPED

EXAMPLES = {
    "A letter": (
        "Thank you for the lovely weekend, the children still talk about the lake. The train home took five "
        "hours and we counted 450 sheep. Since you asked for the flat: the alarm code is 7731, and the spare "
        "key hangs behind the meter. Mrs Lind from number 12 waters the plants. I have not told anyone else, "
        "but the biopsy came back positive and I start treatment in May. The museum opens at nine, tickets "
        "are 14 euros. My bank security code is 450."
    ),
    "The same number": (
        "I got my social security card today; my number is 450. I am waiting at the motor vehicle office; my "
        "number is 450. The library has 450 books on birds. My bank security code is 450. Highway 450 is "
        "closed until Friday."
    ),
    "Secrets without digits": (
        "My landlord still does not know that I lost my job in March. The new stadium is named after a "
        "swimmer. She takes lithium every morning and hides it from her family. Choose a password that is "
        "hard to guess. What is your mother's maiden name? The password is the name of my first cat."
    ),
}
SHIPPED_TITLE, TAUGHT = "Shipped with the studio", "taught"
TAUGHT_TITLE = "Taught in this session"

# A sentence is picked by a click or by Enter and Space; the server is told its number.
PICKING = """
const picked = (event) => {
  const sentence = event.target.closest('[data-place]');
  if (!sentence) return;
  element.querySelectorAll('.picked').forEach((each) => each.classList.remove('picked'));
  sentence.classList.add('picked');
  trigger('select', {index: Number(sentence.dataset.place), value: ''});
};
element.addEventListener('click', picked);
element.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  picked(event);
});
"""


@dataclass(frozen=True)
class Teaching:
    """The part that teaches."""

    sensitive: gr.Textbox
    harmless: gr.Textbox
    file: gr.UploadButton
    teach: gr.Button
    taught: gr.HTML
    load: gr.UploadButton
    back: gr.Button
    keeping: gr.Row
    name: gr.Textbox
    keep: gr.Button
    forget: gr.Button


@dataclass(frozen=True)
class Layout:
    """Everything that handlers read or write."""

    text: gr.Textbox
    examples: tuple[gr.Button, ...]
    upload: gr.UploadButton
    which: gr.Dropdown
    threshold: gr.Slider
    detect: gr.Button
    protect: gr.Button
    said: gr.HTML
    summary: gr.HTML
    marked: gr.HTML
    why: gr.HTML
    secret: gr.Textbox
    alpha: gr.Slider
    ask_model: gr.Button
    model_said: gr.HTML
    plot: gr.HTML
    exports: gr.HTML
    csv: gr.Button
    jsonl: gr.Button
    copy_link: gr.Button
    card: gr.HTML
    teaching: Teaching
    found: gr.State
    picked: gr.State
    taught: gr.State


def build(threshold: float, card: str) -> Layout:
    """Text and choices, the marked text with why beside it, the plot, the card, teaching."""
    gr.HTML(
        '<p class="lead">Finds the sentences of a text that give or ask for a secret, by what they say and '
        "not by the shape of a number. Click a sentence to see why.</p>"
    )
    with gr.Row(elem_id="detect-top"):
        with gr.Column(scale=3, min_width=320):
            text = gr.Textbox(
                next(iter(EXAMPLES.values())),
                label="Your text",
                lines=7,
                max_lines=16,
                elem_id="detect-text",
            )
            with gr.Row(elem_classes="examples-row"):
                examples = tuple(gr.Button(label, size="sm") for label in EXAMPLES)
                upload = gr.UploadButton(
                    "Upload a text file",
                    size="sm",
                    file_types=["text", ".md", ".log"],
                    elem_id="detect-upload",
                )
        with gr.Column(scale=2, min_width=320):
            which = gr.Dropdown(
                [(SHIPPED_TITLE, SHIPPED)],
                value=SHIPPED,
                label="Detector",
                filterable=False,
                elem_id="detect-which",
            )
            slider = gr.Slider(
                0.0,
                1.0,
                threshold,
                step=0.01,
                label="Threshold",
                info="A sentence is flagged from this score on. Lower finds more, and errs more.",
                buttons=[],
                elem_id="detect-threshold",
            )
            detect = gr.Button("Find sensitive sentences", variant="primary", elem_id="detect")
    said = gr.HTML(elem_id="detect-said")
    summary = gr.HTML(elem_id="detect-summary")
    with gr.Row(elem_id="detect-found"):
        with gr.Column(scale=3, min_width=320):
            marked = gr.HTML(EMPTY, elem_id="detect-marked", js_on_load=PICKING)
        with gr.Column(scale=2, min_width=320):
            why, secret, alpha, ask_model, model_said = _why()
    with gr.Row(elem_classes="examples-row"):
        protect = gr.Button("Protect these in Sanitize", size="sm", elem_id="detect-protect")
        csv = gr.Button("Export CSV", size="sm", elem_id="detect-csv")
        jsonl = gr.Button("Export JSONL", size="sm", elem_id="detect-jsonl")
        copy_link = gr.Button("Copy link to these settings", size="sm", elem_id="detect-link")
    plot = gr.HTML(elem_id="detect-plot")
    exports = gr.HTML(elem_id="detect-exports")
    with gr.Accordion("How often it is right: the card", open=False, elem_id="detect-card-fold"):
        shown = gr.HTML(card, elem_id="detect-card")
    teaching = _teaching()
    return Layout(
        text, examples, upload, which, slider, detect, protect, said, summary, marked, why, secret, alpha,
        ask_model, model_said, plot, exports, csv, jsonl, copy_link, shown, teaching,
        gr.State(None, time_to_live=3600), gr.State(-1), gr.State(None, time_to_live=3600),
    )  # fmt: skip


def _why() -> tuple[gr.HTML, gr.Textbox, gr.Slider, gr.Button, gr.HTML]:
    why = gr.HTML(f'<p class="small">{PICK}</p>', elem_id="detect-why")
    with gr.Accordion("Which words give the secret away", open=False, elem_id="detect-alpha-fold"):
        gr.HTML(
            '<p class="small">The alpha-context of the CADP paper: the fewest words of the context after '
            "which the public language model still gives the secret about the same probability.</p>"
        )
        secret = gr.Textbox(label="The secret", max_lines=1, elem_id="detect-secret")
        alpha = gr.Slider(
            0.05,
            0.9,
            0.5,
            step=0.05,
            label="Alpha, as a share of the probability",
            buttons=[],
            elem_id="detect-alpha",
        )
        ask_model = gr.Button("Ask the language model", elem_id="detect-ask-model")
        said = gr.HTML(elem_id="detect-model-said")
    return why, secret, alpha, ask_model, said


def _teaching() -> Teaching:
    with gr.Accordion("Teach it sentences of your own", open=False, elem_id="detect-teach-fold"):
        gr.HTML(
            '<p class="lead">A few sentences, one a line. The head is trained again in seconds, for this '
            "session only: nobody else's detector changes, and the shipped one is always there. An export "
            "whose <code>flagged</code> you corrected can be uploaded instead of typing.</p>"
        )
        with gr.Row():
            sensitive = gr.Textbox(
                "The gate at the allotment opens with my late wife's birthday.\nOur supplier for the blue "
                "dye is still under wraps.",
                label="Sensitive",
                lines=3,
                elem_id="teach-sensitive",
            )
            harmless = gr.Textbox(
                "The gate number for the Oslo flight is 24.\nBlue dye is made from indigo.",
                label="Harmless",
                lines=3,
                elem_id="teach-harmless",
            )
        with gr.Row(elem_classes="examples-row"):
            teach = gr.Button("Teach", size="sm", variant="primary", elem_id="teach")
            file = gr.UploadButton(
                "Upload sentences", size="sm", file_types=[".csv", ".jsonl"], elem_id="teach-file"
            )
            load = gr.UploadButton(
                "Load from a file", size="sm", file_types=[".safetensors"], elem_id="teach-load"
            )
            back = gr.Button("Back to the shipped one", size="sm", elem_id="teach-back")
        taught = gr.HTML(elem_id="teach-said")
        with gr.Row(visible=False, elem_id="teach-keeping") as keeping:
            name = gr.Textbox(
                label="Name on this server",
                info="For the curator: kept here by this name, for everyone to choose.",
                max_lines=1,
                elem_id="teach-name",
            )
            keep = gr.Button("Keep the taught one", size="sm", min_width=140, elem_id="teach-keep")
            forget = gr.Button(
                "Delete the one of this name", size="sm", min_width=140, elem_id="teach-forget"
            )
    return Teaching(
        sensitive, harmless, file, teach, taught, load, back, keeping, name, keep, forget
    )  # fmt: skip
