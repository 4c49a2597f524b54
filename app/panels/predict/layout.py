"""The components of Predict, in the order of the page."""

from dataclasses import dataclass

import gradio as gr
from gradio.blocks import Block

from app.components.ribbon import TEMPLATE
from app.panels.predict import controls
from app.panels.predict.controls import OPENING_LENGTH, Controls
from app.panels.predict.look import empty_answers, look_at
from app.panels.predict.moments import OPENING
from app.panels.predict.run import NO_CORPUS
from app.panels.predict.view import View
from core.corpus.demo import DemoPrompt
from core.privacy.meaning import CANDIDATES
from core.settings import Settings


@dataclass(frozen=True)
class Layout:
    """Everything that handlers read or write."""

    corpus: gr.Dropdown
    visitor: gr.Checkbox
    why: gr.HTML
    meter: gr.HTML
    prompt: gr.Textbox
    generate: gr.Button
    stop: gr.Button
    quote: gr.HTML
    examples: tuple[gr.Button, ...]
    examples_row: gr.Row
    answers: gr.HTML
    verdict: gr.HTML
    copy_answer: gr.Button
    copy_link: gr.Button
    ribbon_group: gr.Column
    ribbon: gr.HTML
    legend: gr.HTML
    details: gr.HTML
    meaning_group: gr.Column
    meaning: gr.HTML
    candidates: gr.Slider
    controls: Controls
    look_again: gr.Number

    @property
    def length(self) -> gr.Slider:
        """How many tokens are asked for."""
        return self.controls.drawing[3]

    @property
    def looked_at(self) -> list[Block]:
        """What `Handlers.look` fills, in its order."""
        said = [
            self.why,
            self.meter,
            self.legend,
            self.details,
            self.meaning,
            self.quote,
            self.controls.in_force,
        ]
        groups = [self.ribbon_group, self.meaning_group, self.examples_row]
        shaped = [self.visitor, *groups, self.controls.start_over]
        return [*said, *shaped, *self.controls.terms]

    @property
    def chosen(self) -> list[Block]:
        """What `Handlers.choose` fills."""
        return [self.answers, self.ribbon, self.verdict, *self.controls.terms]


def build(
    settings: Settings,
    choices: list[tuple[str, str]],
    view: View | None,
    prompts: list[DemoPrompt],
) -> Layout:
    """Selector and meter, prompt and answers, then what it cost; `view` is what the page opens with."""
    first, chosen = look_at(view, OPENING_LENGTH, CANDIDATES), view.entry.name if view else NO_CORPUS
    demonstrates = view is None or view.entry.shipped  # the examples are about the corpus that is shipped
    with gr.Row(elem_id="corpus-row"):
        with gr.Column(scale=3, min_width=260):
            why = gr.HTML(first.why, elem_id="why")
        with gr.Column(scale=1, min_width=260):
            corpus = gr.Dropdown(choices, value=chosen, label="Corpus", elem_id="corpus", filterable=False)
            visitor = gr.Checkbox(False, label="Visitor's view", visible=False, elem_id="visitor")
    meter = gr.HTML(first.meter, elem_id="meter")
    with gr.Row(elem_id="ask"):
        prompt = gr.Textbox(
            prompts[0].prompt if demonstrates else "",
            label="Prompt",
            placeholder="Begin a sentence as the corpus would",
            lines=2,
            max_lines=8,
            autofocus=True,
            elem_id="prompt",
            scale=5,
        )
        with gr.Column(scale=1, min_width=210, elem_id="ask-side"):
            with gr.Row(elem_id="ask-buttons"):
                generate = gr.Button("Generate", variant="primary", elem_id="generate", min_width=110)
                stop = gr.Button("Stop", interactive=False, elem_id="stop", min_width=70)
            quote = gr.HTML(first.quote, elem_id="quote")
    with gr.Row(elem_classes="examples-row", visible=demonstrates) as examples_row:
        examples = tuple(gr.Button(prompt.label, size="sm") for prompt in prompts)
    answers = gr.HTML(empty_answers(view), elem_id="answers")
    verdict = gr.HTML(OPENING, elem_id="verdict")
    with gr.Row(elem_classes="examples-row"):
        copy_answer = gr.Button("Copy the protected answer", size="sm")
        copy_link = gr.Button("Copy link to these settings", size="sm")
    with gr.Column(elem_id="ribbon-group", visible=view is not None and view.exact) as ribbon_group:
        gr.HTML("<h2>What each token cost</h2>")
        ribbon = gr.HTML(elem_id="ribbon", html_template=TEMPLATE, value="")
        legend = gr.HTML(first.legend, elem_id="ribbon-legend")
    with gr.Row(elem_id="spend"):
        details = gr.HTML(first.details, elem_id="details")
        with gr.Column(elem_id="meaning-group", visible=view is not None, min_width=280) as meaning_group:
            meaning = gr.HTML(first.meaning, elem_id="meaning")
            candidates = gr.Slider(
                1, 9, 4, step=1, label="Candidates", info="As a power of ten: 4 is a guesser among 10,000."
            )
    look_again = gr.Number(0, visible="hidden")  # when it changes, the ledger has
    set_by = controls.build(settings, view.state if view else None, first.in_force)
    return Layout(
        corpus, visitor, why, meter, prompt, generate, stop, quote, examples, examples_row, answers, verdict,
        copy_answer, copy_link, ribbon_group, ribbon, legend, details, meaning_group, meaning, candidates,
        set_by, look_again,
    )  # fmt: skip
