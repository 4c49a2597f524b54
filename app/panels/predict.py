"""Predict: a prompt in, an answer out, token by token."""

import time
from collections.abc import Iterator

import gradio as gr
from gradio.events import api

from app.address import COPY_LINK, AddressField, remember
from app.components.markup import escape, notice
from core.errors import StudioError
from core.predict.decoding import Decoding
from core.predict.generate import stream_public
from core.studio import Studio

EXAMPLES = {
    "A ward note": "Ward round, Tuesday morning. The patient slept well and",
    "A recipe": "To make a simple tomato soup, first",
    "The weather": "The weather forecast for the coast this weekend is",
}
MODEL_REQUESTS = 2  # answers in the making at once; more would share the same cores
_COPY_ANSWER = """() => navigator.clipboard.writeText(
  document.querySelector('#answer .made')?.innerText ?? '')"""
_FIRST = next(iter(EXAMPLES.values()))
_EMPTY = (
    '<div class="answer" tabindex="0">'
    '<span class="empty">The answer appears here, a token at a time.</span></div>'
)


def build(studio: Studio) -> list[AddressField]:
    """The panel; returns the controls whose values are kept in the address."""
    gr.HTML(
        '<p class="lead">The public language model continues your text. It never saw anybody\'s private '
        "text, so its answers spend no privacy budget.</p>"
    )
    prompt = gr.Textbox(_FIRST, label="Prompt", lines=3, max_lines=10, autofocus=True, elem_id="prompt")
    with gr.Row(elem_classes="examples-row"):
        examples = [gr.Button(label, size="sm") for label in EXAMPLES]
    with gr.Row():
        generate = gr.Button("Generate", variant="primary", elem_id="generate", scale=2, min_width=140)
        stop = gr.Button("Stop", interactive=False, elem_id="stop", scale=1, min_width=100)
    answer = gr.HTML(_EMPTY, elem_id="answer")
    verdict = gr.HTML(elem_id="verdict")
    with gr.Row(elem_classes="examples-row"):
        copy_answer = gr.Button("Copy answer", size="sm")
        copy_link = gr.Button("Copy link to these settings", size="sm")
    fields = _controls(studio)
    controls = [field.control for field in fields]

    def run(
        prompt: str, temperature: float, top_k: int, top_p: float, length: int, request: gr.Request
    ) -> Iterator[tuple[str, str]]:
        yield from _stream(studio, prompt, temperature, top_k, top_p, length, request.session_hash or "none")

    def generate_text(
        prompt: str,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        length: int = 64,
        request: gr.Request | None = None,
    ) -> Iterator[str]:
        """Continue a prompt with the public language model; streams the text so far.

        Args:
            prompt: the text to continue.
            temperature: below 1 is more predictable, above 1 more surprising; 0.05 to 4.
            top_k: draw among this many likeliest tokens only; 0 means among all.
            top_p: draw among the likeliest tokens that hold this share of probability; 1 means among all.
            length: the number of tokens to draw at most.
        """
        session = (request.session_hash if request else None) or "none"
        text = ""
        try:
            for piece in _pieces(studio, prompt, temperature, top_k, top_p, length, session):
                text += piece
                yield text
        except StudioError as error:
            raise gr.Error(str(error), print_exception=False) from error

    def busy() -> tuple[dict[str, object], dict[str, object]]:
        return gr.update(interactive=False), gr.update(interactive=True)

    def idle() -> tuple[dict[str, object], dict[str, object]]:
        return gr.update(interactive=True), gr.update(interactive=False)

    start = gr.on(
        [generate.click, prompt.submit], busy, None, [generate, stop], queue=False, api_visibility="private"
    )
    event = start.then(
        run,
        [prompt, *controls],
        [answer, verdict],
        concurrency_id="model",
        concurrency_limit=MODEL_REQUESTS,
        api_visibility="private",
        show_progress="hidden",
    )
    event.then(idle, None, [generate, stop], queue=False, api_visibility="private")
    stop.click(idle, None, [generate, stop], cancels=[event], queue=False, api_visibility="private")
    for button, text in zip(examples, EXAMPLES.values(), strict=True):
        button.click(None, None, prompt, js=f"() => {text!r}")
    copy_answer.click(
        None,
        js="() => navigator.clipboard.writeText(document.querySelector('#answer .made')?.innerText ?? '')",
    )
    copy_link.click(None, js=COPY_LINK)
    api(generate_text, api_name="generate", concurrency_id="model", concurrency_limit=MODEL_REQUESTS)
    return fields


def _controls(studio: Studio) -> list[AddressField]:
    most = studio.settings.max_new_tokens
    with gr.Accordion("How tokens are drawn", open=False), gr.Row():
        temperature = gr.Slider(
            0.1,
            2.0,
            0.8,
            step=0.05,
            label="Temperature",
            info="Below 1 is more predictable, above 1 more surprising.",
        )
        top_k = gr.Slider(
            0,
            200,
            50,
            step=1,
            label="Top-k",
            info="Draw among this many likeliest tokens; 0 means among all.",
        )
        top_p = gr.Slider(
            0.1,
            1.0,
            0.95,
            step=0.01,
            label="Nucleus",
            info="Draw among the likeliest tokens that hold this share of probability.",
        )
        length = gr.Slider(1, most, min(48, most), step=1, label="Length", info="Tokens to draw at most.")
    fields = [
        AddressField("temperature", temperature, 0.1, 2.0),
        AddressField("top_k", top_k, 0, 200, whole=True),
        AddressField("top_p", top_p, 0.1, 1.0),
        AddressField("length", length, 1, most, whole=True),
    ]
    for field in fields:
        remember(field)
    return fields


def _pieces(
    studio: Studio, prompt: str, temperature: float, top_k: int, top_p: float, length: int, session: str
) -> Iterator[str]:
    """The pieces of an answer, noted in the session log however the answer ends."""
    started, outcome = time.perf_counter(), "stopped"
    try:
        decoding = Decoding(temperature=temperature, top_k=int(top_k) or None, top_p=top_p)
        for piece in stream_public(
            studio.public(), prompt, decoding, length=int(length), limits=studio.settings
        ):
            yield piece.text
        outcome = "done"
    except StudioError:
        outcome = "refused"
        raise
    finally:
        studio.note(
            session=session,
            panel="predict",
            action="generate",
            outcome=outcome,
            duration_ms=(time.perf_counter() - started) * 1000,
            text=prompt,
        )


def _stream(
    studio: Studio, prompt: str, temperature: float, top_k: int, top_p: float, length: int, session: str
) -> Iterator[tuple[str, str]]:
    if not studio.ready:
        yield _EMPTY, notice("Loading the language model, a few seconds the first time.")
    made, tokens, started = "", 0, time.perf_counter()
    try:
        for piece in _pieces(studio, prompt, temperature, top_k, top_p, length, session):
            tokens += 1
            made += piece
            yield answer_html(prompt, made), ""
    except StudioError as error:
        yield answer_html(prompt, made) if made else _EMPTY, notice(str(error), kind="problem")
        return
    yield answer_html(prompt, made), notice(verdict_text(tokens, time.perf_counter() - started), kind="done")


def answer_html(prompt: str, made: str) -> str:
    """The prompt, subdued, and what the model made of it."""
    return (
        '<div class="answer" tabindex="0"><span class="source">Public model</span>'
        f'<span class="prompt">{escape(prompt)}</span><span class="made">{escape(made)}</span></div>'
    )


def verdict_text(tokens: int, seconds: float) -> str:
    """What happened, in a sentence."""
    pace = tokens / seconds if seconds > 0 else 0.0
    words = "1 token" if tokens == 1 else f"{tokens} tokens"
    made = f"{words} from the public model in {seconds:.1f} s ({pace:.0f} a second)."
    return f"{made} Nothing private was used; nothing was spent."
