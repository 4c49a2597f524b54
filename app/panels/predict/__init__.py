"""Predict: one prompt, three answers side by side, and the budget that the protected one is paid from."""

import json
from typing import Any

import gradio as gr

from app.address import COPY_LINK, AddressField, ChoiceField, Field, remember
from app.components.copying import copies
from app.identity import Curators
from app.panels.predict import endpoints, layout, moments
from app.panels.predict.endpoints import CONCURRENT
from app.panels.predict.handlers import Handlers
from app.panels.predict.layout import Layout
from app.panels.predict.run import NO_CORPUS
from core.corpus.demo import DemoPrompt, demo_prompts
from core.studio import Studio

# Light handlers pass the queue by, so that neither a long answer nor a full queue keeps the page waiting.
_LIGHT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
EXAMPLES = (
    "A patient's door code",
    "A patient's diagnosis",
    "A patient's bank card",
    "Start a ward note",
    "What is the Lantern score?",
    "A plan for a confused patient",
    "The weather",
)
_COPY_ANSWER = copies("document.querySelector('#answers .answer .made')?.innerText", "The answer is copied.")


def build(
    demo: gr.Blocks, studio: Studio, curators: Curators, token: gr.BrowserState, tab: gr.Tab
) -> list[Field]:
    """The panel; returns the controls whose values are kept in the address."""
    endpoints.build(studio, curators)  # first, so that the names are theirs and not a handler's
    does = Handlers(studio, curators)
    choices, examples = does.corpora(), example_prompts()
    page = layout.build(studio.settings, choices, does.first_view(), examples)
    _wire_looking(demo, page, does, token, tab)
    _wire_answering(page, does, token)
    for button, example in zip(page.examples, examples, strict=True):
        button.click(None, None, page.prompt, js=f"() => {json.dumps(example.prompt)}")
    page.corpus.change(None, page.corpus, js=_own_prompt(studio, examples), **_LIGHT)
    page.copy_answer.click(None, js=_COPY_ANSWER)
    page.copy_link.click(None, js=COPY_LINK)
    own: list[Field] = [
        ChoiceField(
            "corpus",
            page.corpus,
            lambda: [name for _, name in does.corpora()],
            implied=tuple(page.chosen),
            implies=does.choose,
        ),
        AddressField("candidates", page.candidates, 1, 9, whole=True),
    ]
    for field in own:
        remember(field)
    return [*own, *page.controls.fields]


def example_prompts() -> list[DemoPrompt]:
    """Some of each kind: secrets, what the notes know better, and neither. The first asks for a secret."""
    return [prompt for prompt in demo_prompts() if prompt.label in EXAMPLES]


def _own_prompt(studio: Studio, examples: list[DemoPrompt]) -> str:
    """An example for the demonstration is no prompt for another corpus; what somebody typed stays.

    In the page itself and at once: an output would come later, over what is typed meanwhile.
    """
    shipped = json.dumps([*(entry.name for entry in studio.ensembles() if entry.shipped), NO_CORPUS])
    prompts = json.dumps([each.prompt for each in examples])
    return f"""(corpus) => {{
  const prompt = document.querySelector('#prompt textarea');
  if (!prompt || {shipped}.includes(corpus) || !{prompts}.includes(prompt.value)) return;
  prompt.value = '';
  prompt.dispatchEvent(new Event('input', {{bubbles: true}}));
}}"""


def _within(slider: gr.Slider) -> str:
    """A number that is typed beside a slider may be out of its limits until the field is left."""
    low, high = slider.minimum, slider.maximum
    return f"(...all) => [...all.slice(0, -1), Math.min(Math.max(all.at(-1) || {low}, {low}), {high})]"


def _wire_looking(demo: gr.Blocks, page: Layout, does: Handlers, token: gr.BrowserState, tab: gr.Tab) -> None:
    """What follows from the corpus and from who is looking."""
    who = [token, page.visitor, page.corpus]
    newest: dict[str, Any] = {
        **_LIGHT,
        "trigger_mode": "always_last",
    }  # a change during a look is looked at next
    # One at a time, whatever asks for it: two at once could end in the wrong order and leave the older meter.
    asks = [demo.load, page.corpus.change, token.change, page.visitor.change, page.look_again.change]
    gr.on(
        asks,
        does.look,
        [*who, page.length, page.candidates],
        page.looked_at,
        **newest,
    )
    # What the address names sets these with the corpus; after a change they could overtake what is typed.
    page.corpus.input(does.choose, page.corpus, page.chosen, **newest)
    # What the curator's answer cost is nothing that a visitor sees.
    page.visitor.input(None, None, page.verdict, js=f"() => {json.dumps(moments.OPENING)}", **_LIGHT)
    gr.on([demo.load, tab.select], does.refresh, None, page.corpus, **_LIGHT)
    page.length.change(does.quote, [*who, page.length], page.quote, js=_within(page.length), **newest)
    page.candidates.change(does.meaning, [*who, page.candidates], page.meaning, **newest)
    cleared = [page.controls.said, page.answers, page.ribbon, page.verdict]
    again = page.controls.start_over.click(
        does.start_over, [page.corpus, *page.controls.terms], cleared, **_LIGHT
    )
    again.then(**_look_again(page))


def _wire_answering(page: Layout, does: Handlers, token: gr.BrowserState) -> None:
    """Generate and Stop. Of all answers a few are in the making at once; they share the models by turns."""
    who = [token, page.visitor, page.corpus]
    buttons = [page.generate, page.stop]
    begins = [page.generate.click, page.prompt.submit]
    start = gr.on(begins, None, None, [*buttons, page.verdict], js=moments.BEGUN, **_LIGHT)
    answer = start.then(
        does.answer,
        [*who, page.prompt, *page.controls.drawing],
        [page.answers, page.meter, page.ribbon, page.details, page.verdict],
        concurrency_id="model",
        concurrency_limit=CONCURRENT,
        api_visibility="private",
        show_progress="hidden",
    )
    answer.success(None, None, buttons, js=moments.DONE, **_LIGHT).then(**_look_again(page))
    ended = answer.failure(None, None, [*buttons, page.verdict], js=moments.ENDED, **_LIGHT)
    ended.then(**_look_again(page))
    page.stop.click(None, js=moments.STOP, cancels=[answer], **_LIGHT)


def _look_again(page: Layout) -> dict[str, Any]:
    """Asks for a look at what has changed in the ledger."""
    return {"fn": None, "outputs": page.look_again, "js": "() => Date.now()", **_LIGHT}
