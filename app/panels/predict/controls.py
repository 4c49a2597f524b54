"""The controls of Predict: what is set for each answer, and what is fixed when a budget is opened."""

from dataclasses import dataclass

import gradio as gr

from app.address import AddressField, ChoiceField, Field, remember
from core.settings import Settings
from core.store import Budget, Terms

PROTOCOL_NAMES = {
    "strict": "Strict (sound, the default)",
    "submix": "SubMix, as in the paper",
    "pmixed": "PMixED",
    "subsample-aggregate": "Subsample and aggregate",
    "gnmax": "GNMax",
    "public": "Public model only",
    "ensemble": "Plain mean of the parts (no protection)",
}
_DEFAULT = Terms(parts=2, epsilon=2.0, alpha=2.0, queries=1024, protocol="strict", synthetic=True)
OPENING_LENGTH = 40

Drawing = tuple[gr.Slider, gr.Slider, gr.Slider, gr.Slider]  # temperature, top-k, nucleus, length
# protocol, epsilon, alpha, queries, largest weight
TermControls = tuple[gr.Dropdown, gr.Number, gr.Number, gr.Number, gr.Slider]


@dataclass(frozen=True)
class Controls:
    """The controls and the fields of the address that they fill."""

    drawing: Drawing
    terms: TermControls
    in_force: gr.HTML
    start_over: gr.Button
    said: gr.HTML
    fields: tuple[Field, ...]


def build(settings: Settings, state: Terms | Budget | None, said_first: str) -> Controls:
    """Both groups, folded away below the answers."""
    with gr.Accordion("How tokens are drawn", open=False), gr.Row():
        drawing = _drawing(settings.max_new_tokens)
    with gr.Accordion("Protocol and budget", open=False):
        in_force = gr.HTML(said_first, elem_id="in-force")
        with gr.Row():
            terms = _terms(state or _DEFAULT)
        start_over = gr.Button("Start over with these terms (demonstration only)", elem_id="start-over")
        said = gr.HTML(elem_id="start-over-said")
    fields = (*_drawing_fields(drawing, settings.max_new_tokens), *_terms_fields(terms))
    for field in fields:
        remember(field)
    return Controls(drawing, terms, in_force, start_over, said, fields)


def _drawing(most: int) -> Drawing:
    return (
        gr.Slider(
            0.1,
            2.0,
            0.7,
            step=0.05,
            label="Temperature",
            info="Below 1 is more predictable, above 1 more surprising; for every model before they mix.",
            min_width=400,
        ),
        gr.Slider(
            0,
            200,
            0,
            step=1,
            label="Top-k",
            info="Draw among this many tokens that the public model finds likeliest; 0 means among all.",
            min_width=400,
        ),
        gr.Slider(
            0.1,
            1.0,
            1.0,
            step=0.01,
            label="Nucleus",
            info="Draw among the public model's likeliest tokens that hold this share of probability.",
            min_width=400,
        ),
        gr.Slider(
            1,
            most,
            min(OPENING_LENGTH, most),
            step=1,
            label="Length",
            info="Tokens to draw at most; each is paid for.",
            min_width=400,
        ),
    )


def _terms(plan: Terms | Budget) -> TermControls:
    """Numbers without limits: Gradio would answer with a bare error what the core refuses in a sentence."""
    return (
        gr.Dropdown(
            [(shown, name) for name, shown in PROTOCOL_NAMES.items()],
            value=plan.protocol,
            label="Protocol",
            info="How the parts' answers become one law to draw from.",
            scale=2,
            min_width=260,
        ),
        gr.Number(
            plan.epsilon,
            label="Epsilon",
            info="What each part may lose, in nats.",
            min_width=140,
        ),
        gr.Number(
            plan.alpha,
            label="Alpha",
            info="The Renyi order; above 2 there is a figure for one user.",
            min_width=140,
        ),
        gr.Number(
            plan.queries,
            precision=0,
            label="Queries",
            info="How many tokens the budget is planned for.",
            min_width=140,
        ),
        gr.Slider(
            0.05,
            0.95,
            plan.w_max,
            step=0.05,
            label="Largest weight",
            info="The most a part may weigh in its own answer (Strict).",
            scale=2,
            min_width=260,
        ),
    )


def _drawing_fields(controls: tuple[gr.Slider, ...], most: int) -> tuple[Field, ...]:
    temperature, top_k, top_p, length = controls
    return (
        AddressField("temperature", temperature, 0.1, 2.0),
        AddressField("top_k", top_k, 0, 200, whole=True),
        AddressField("top_p", top_p, 0.1, 1.0),
        AddressField("length", length, 1, most, whole=True),
    )


def _terms_fields(
    controls: TermControls,
) -> tuple[Field, ...]:
    protocol, epsilon, alpha, queries, w_max = controls
    return (
        ChoiceField("protocol", protocol, lambda: PROTOCOL_NAMES),
        AddressField("epsilon", epsilon, 0.01, 100),
        AddressField("alpha", alpha, 1.1, 64),
        AddressField("queries", queries, 1, 1_000_000, whole=True),
        AddressField("w_max", w_max, 0.05, 0.95),
    )
