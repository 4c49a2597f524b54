"""The components of CADP training, in the order of the page."""

from dataclasses import dataclass

import gradio as gr

DEMO = "demo"
EPSILONS = [1.0, 2.0, 4.0, 8.0, 16.0]
MECHANISMS = {
    "cadp": "CADP: noise on what the detector flags",
    "dp-sgd": "DP-SGD: noise on everything",
    "s-dpsgd": "S-DPSGD: noise on what has digits",
    "none": "No privacy (synthetic text only)",
}


@dataclass(frozen=True)
class Training:
    """Everything that the handlers of training read or write."""

    corpus: gr.Dropdown
    mechanism: gr.Dropdown
    epsilon: gr.Dropdown
    share: gr.Slider
    passes: gr.Slider
    train: gr.Button
    stop: gr.Button
    resume: gr.Button
    discard: gr.Button
    job: gr.State
    said: gr.HTML
    status: gr.HTML
    timer: gr.Timer
    asking: gr.Column
    model: gr.Dropdown
    prompt: gr.Textbox
    ask: gr.Button
    answers: gr.HTML
    card: gr.HTML


def build(prompt: str) -> Training:
    """Choices, the training that runs, and what was trained."""
    with gr.Accordion(
        "Train a model with privacy for what is flagged (CADP)", open=False, elem_id="detect-cadp-fold"
    ):
        gr.HTML(
            '<p class="lead">An adapter of the public model learns from a text: by DP-SGD from the sequences '
            "that are flagged, as usual from the rest. The card says what that guarantees, and what not.</p>"
        )
        with gr.Row(elem_id="cadp-choices"):
            corpus = gr.Dropdown(
                [("Ward notes (synthetic)", DEMO)], value=DEMO, label="Text", filterable=False,
                elem_id="cadp-corpus", min_width=220,
            )  # fmt: skip
            mechanism = gr.Dropdown(
                [(words, name) for name, words in MECHANISMS.items()], value="cadp", label="How",
                filterable=False, elem_id="cadp-mechanism", min_width=280,
            )  # fmt: skip
            epsilon = gr.Dropdown(
                [(f"{value:g}", value) for value in EPSILONS], value=8.0, label="Epsilon (delta 0.00001)",
                filterable=False, elem_id="cadp-epsilon", min_width=140,
            )  # fmt: skip
        with gr.Row():
            share = gr.Slider(
                5, 100, 20, step=5, label="How much of the text, in percent", buttons=[], elem_id="cadp-share"
            )
            passes = gr.Slider(0.5, 5.0, 2.0, step=0.5, label="Passes", buttons=[], elem_id="cadp-passes")
        with gr.Row():
            train = gr.Button("Train", variant="primary", min_width=160, elem_id="cadp-train")
            stop = gr.Button("Stop", min_width=90, visible=False, elem_id="cadp-stop")
            resume = gr.Button("Continue", min_width=110, visible=False, elem_id="cadp-continue")
            discard = gr.Button("Discard", min_width=110, visible=False, elem_id="cadp-discard")
        job = gr.State("")
        said = gr.HTML(elem_id="cadp-said")
        status = gr.HTML(elem_id="cadp-status")
        timer = gr.Timer(1.5, active=False)
        with gr.Column(visible=False) as asking:
            gr.HTML("<h3>Ask what was trained</h3>")
            with gr.Row():
                model = gr.Dropdown([], label="Model", filterable=False, elem_id="cadp-model", min_width=300)
                text = gr.Textbox(prompt, label="Prompt", max_lines=2, elem_id="cadp-prompt", min_width=300)
            ask = gr.Button("Ask", elem_id="cadp-ask")
            answers = gr.HTML(elem_id="cadp-answers")
            card = gr.HTML(elem_id="cadp-card")
    return Training(
        corpus, mechanism, epsilon, share, passes, train, stop, resume, discard, job, said, status, timer,
        asking, model, text, ask, answers, card,
    )  # fmt: skip
