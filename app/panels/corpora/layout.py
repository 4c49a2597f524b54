"""The components of Corpora, in the order of the page: the training that runs, three steps, the ensembles."""

from dataclasses import dataclass, fields

import gradio as gr
from gradio.blocks import Block

from app.address import COPY_LINK
from app.panels.predict.controls import PROTOCOL_NAMES
from core.curator.guidance import MOST_PARTS

TICK_SECONDS = 2.0
TRAINED_PROTOCOLS = ("strict", "submix", "pmixed", "subsample-aggregate", "gnmax")
_SYNTHETIC = (
    "Nobody in this text exists. Then everyone sees exact costs, the unprotected model may be shown and the "
    "budget started over. It cannot be taken back."
)
_ADDS = (
    "An earlier corpus holds some of this text, and I know that for the people in both, what the two "
    "budgets allow adds up."
)


@dataclass(frozen=True)
class Reads:
    """How the text is read."""

    user_column: gr.Textbox
    text_column: gr.Textbox
    each_document: gr.Checkbox
    synthetic: gr.Checkbox


@dataclass(frozen=True)
class Plans:
    """What is planned."""

    name: gr.Textbox
    parts: gr.Slider
    protocol: gr.Dropdown
    halves: gr.Checkbox
    epsilon: gr.Number
    alpha: gr.Number
    queries: gr.Number
    w_max: gr.Slider
    passes: gr.Slider
    layers: gr.Slider
    whole: gr.Checkbox
    adds: gr.Checkbox


@dataclass(frozen=True)
class Layout:
    """Everything that handlers read or write."""

    gate: gr.HTML
    desk: gr.Column
    timer: gr.Timer
    job: gr.State
    status: gr.HTML
    stop: gr.Button
    resume: gr.Button
    discard: gr.Button
    steps: gr.Column
    file: gr.File
    reads: Reads
    said: gr.HTML
    read: gr.Button
    forget: gr.Button
    plan: gr.Column
    report: gr.HTML
    guidance: gr.HTML
    plans: Plans
    estimate: gr.HTML
    train: gr.Button
    refused: gr.HTML
    listed: gr.HTML
    keeping: gr.Column
    ensemble: gr.Dropdown
    new_name: gr.Textbox
    rename: gr.Button
    delete: gr.Button
    confirm: gr.Column
    confirming: gr.State
    question: gr.HTML
    sure: gr.Button
    keep: gr.Button
    renamed: gr.HTML

    @property
    def reading(self) -> list[Block]:
        """The inputs that say how the text is read."""
        return [getattr(self.reads, field.name) for field in fields(Reads)]

    @property
    def planning(self) -> list[Block]:
        """The inputs that say what is planned."""
        return [getattr(self.plans, field.name) for field in fields(Plans)]

    @property
    def outputs(self) -> list[Block]:
        """Whatever a handler may change."""
        own = [getattr(self, field.name) for field in fields(self) if field.name not in ("reads", "plans")]
        return [*own, *self.reading, *self.planning]


def build() -> Layout:
    """All of it; what is for the curator is hidden until a handler has seen the token."""
    gate = gr.HTML(elem_id="corpora-gate")
    with gr.Column(visible=False, elem_id="corpora-desk") as desk:
        timer, job = gr.Timer(TICK_SECONDS, active=False), gr.State("")
        status = gr.HTML(elem_id="training")
        with gr.Row(elem_classes="examples-row"):
            stop = gr.Button("Stop training", visible=False, elem_id="training-stop")
            resume = gr.Button("Continue", variant="primary", visible=False, elem_id="training-continue")
            discard = gr.Button("Discard", visible=False, elem_id="training-discard")
        with gr.Column(elem_id="corpora-steps") as steps:
            gr.HTML('<h2><span class="step">1</span> Your text</h2>')
            file, reads, said, read, forget = _first_step()
            with gr.Column(visible=False, elem_id="corpora-plan") as plan:
                gr.HTML('<h2><span class="step">2</span> What it holds, and how to split it</h2>')
                report = gr.HTML(elem_id="corpus-report")
                guidance = gr.HTML(elem_id="corpus-guidance")
                plans = _second_step()
                gr.HTML('<h2><span class="step">3</span> Train</h2>')
                estimate = gr.HTML(elem_id="training-estimate")
                with gr.Row(elem_classes="action-row"):
                    train = gr.Button("Train", variant="primary", elem_id="train", scale=0, min_width=220)
                refused = gr.HTML(elem_id="training-refused")
    gr.HTML("<h2>Ensembles</h2>")
    listed = gr.HTML(elem_id="ensembles")
    with gr.Column(visible=False, elem_id="corpora-keeping") as keeping:
        with gr.Row(elem_classes="aligned-row"):
            ensemble = gr.Dropdown([], label="Ensemble", filterable=False, scale=2, min_width=200)
            new_name = gr.Textbox(label="New name", max_lines=1, max_length=120, scale=2, min_width=200)
            rename = gr.Button("Rename", scale=0, min_width=110)
            delete = gr.Button("Delete", scale=0, min_width=110)
        with gr.Column(visible=False, elem_id="delete-confirm") as confirm:
            confirming = gr.State("")
            question = gr.HTML()
            with gr.Row(elem_classes="examples-row"):
                sure = gr.Button("Delete it", variant="stop")
                keep = gr.Button("Keep it")
        renamed = gr.HTML(elem_id="keeping-said")
    with gr.Row(elem_classes="examples-row"):
        gr.Button("Copy link to this panel", size="sm").click(None, js=COPY_LINK)
    return Layout(
        gate, desk, timer, job, status, stop, resume, discard, steps, file, reads, said, read, forget,
        plan, report, guidance, plans, estimate, train, refused, listed, keeping, ensemble, new_name,
        rename, delete, confirm, confirming, question, sure, keep, renamed,
    )  # fmt: skip


def _first_step() -> tuple[gr.File, Reads, gr.HTML, gr.Button, gr.Button]:
    with gr.Row():
        with gr.Column(scale=2, min_width=260):
            # No list of endings: Gradio would turn a file away by itself and leave it where it lies.
            file = gr.File(label="Your file", height=150, elem_id="corpus-file")
            gr.HTML('<p class="small">CSV, JSON Lines, Parquet, text, or a zip of text files.</p>')
        with gr.Column(scale=3, min_width=260):
            with gr.Row():
                user = gr.Textbox(
                    label="Column of user ids",
                    info="Empty: it is found.",
                    max_lines=1,
                    min_width=160,
                )
                text = gr.Textbox(
                    label="Column of the text", info="Empty: it is found.", max_lines=1, min_width=160
                )
            each = gr.Checkbox(
                label="Each document is from a different person",
                info="Say so only if it is: a person in two parts is not protected.",
            )
            synthetic = gr.Checkbox(label="Synthetic", info=_SYNTHETIC, elem_id="declare-synthetic")
    said = gr.HTML(elem_id="corpus-said")
    with gr.Row(elem_classes="examples-row"):
        read = gr.Button("Read it again", visible=False, elem_id="corpus-read")
        forget = gr.Button("Remove it", visible=False, elem_id="corpus-forget")
    return file, Reads(user, text, each, synthetic), said, read, forget


def _second_step() -> Plans:
    with gr.Row():
        name = gr.Textbox(
            label="Name",
            info="Its budget keeps this name for good.",
            max_lines=1,
            max_length=120,
            min_width=260,
            elem_id="corpus-name",
        )
        parts = gr.Slider(
            2, MOST_PARTS, 8, step=1, label="Parts", info="A person lives in one of them.", min_width=260
        )
        protocol = gr.Dropdown(
            [(PROTOCOL_NAMES[each], each) for each in TRAINED_PROTOCOLS],
            value="strict",
            label="Protocol",
            info="SubMix trains two halves of each part.",
            filterable=False,
            min_width=260,
        )
    # Numbers without limits: Gradio would answer with a bare error what the core refuses in a sentence.
    with gr.Accordion("The budget: fixed for good once it is trained", open=False), gr.Row():
        epsilon = gr.Number(2.0, label="Epsilon", info="What each part may lose, in nats.")
        alpha = gr.Number(
            2.0,
            label="Alpha",
            info="The Renyi order; above 2 there is a figure for one user.",
        )
        queries = gr.Number(
            1024,
            precision=0,
            label="Queries",
            info="How many tokens the budget is planned for.",
        )
        w_max = gr.Slider(
            0.05,
            0.95,
            0.5,
            step=0.05,
            label="Largest weight",
            info="The most a part may weigh in its own answer (Strict).",
        )
    with gr.Accordion("How it learns", open=False), gr.Row():
        passes = gr.Slider(1, 10, 3, step=1, label="Passes", info="Over each part's text.")
        layers = gr.Slider(1, 30, 8, step=1, label="Layers", info="How many of the top layers learn.")
        with gr.Column(min_width=200):
            halves = gr.Checkbox(label="Two halves of each part", info="SubMix needs them.")
            whole = gr.Checkbox(
                label="Also one model on everything",
                info="To show what would leak; synthetic text only.",
                visible=False,
            )
    adds = gr.Checkbox(label="The guarantees add up", info=_ADDS, elem_id="guarantees-add", visible=False)
    return Plans(
        name, parts, protocol, halves, epsilon, alpha, queries, w_max, passes, layers, whole, adds
    )  # fmt: skip
