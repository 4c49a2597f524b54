"""The Detect panel: what it shows is the text as it was, nothing in it can run, and who may do what."""

import html
import json
import re
import time
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.identity import Curators
from app.panels.detect.card_look import card_html, compared_html
from app.panels.detect.handlers import Handlers
from app.panels.detect.look import exports_html, legend_html, level, marked_text_html, plot_html, summary_html
from app.panels.detect.training import TrainingHandlers
from app.panels.detect.training_look import answers_html, status_html
from app.panels.detect.why import model_context_html, why_html
from core.context.alpha import AlphaContext, Word
from core.context.asked import Found
from core.context.cadp.job import CadpJobs
from core.context.cadp.kept import CadpJob, training_folder, write_job, write_text
from core.context.cadp.model import Recipe
from core.context.cadp.status import CadpStatus
from core.context.card import Bin, Card, FamilyLine, Mistake, Result, Share
from core.context.deciding import Deciding
from core.context.detector import Detector, Sentence
from core.context.export import export
from core.context.nearest import NearFamily
from core.corpus import Corpus, Document
from tests.app.calling import Caller
from tests.app.conftest import PASSWORD
from tests.app.payloads import PAYLOADS

TEXT = "It rains.\n\n  My PIN is 4417!  Tea?"
SECRET = "Zanzibar-77421"


class Seen(HTMLParser):
    """What a browser would show, and the tags and attributes that it would see."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.text, self.tags, self.attributes = "", set(), []
        self.feed(markup)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def found(text: str = TEXT, scores=(0.1, 0.9, 0.4), threshold: float = 0.6) -> Found:
    places = (
        [match.span() for match in re.finditer(r"\S[^.!?]*[.!?]", text)] if text == TEXT else [(0, len(text))]
    )
    sentences = tuple(
        Sentence(text[start:end], start, end, score, score >= threshold, 0)
        for (start, end), score in zip(places, scores, strict=False)
    )
    return Found(text, sentences, Detector("x", None, threshold))  # type: ignore[arg-type]


def card(text: str = "a sentence") -> Card:
    share = Share(9, 10, 0.9, 0.6, 0.55, 0.99)
    result = Result(
        "x", 0.5, share, share, 0.8, (FamilyLine(text, True, 9, 10), FamilyLine("calm", False, 0, 5)),
        (Bin(0.0, 0.5, 4, 1, 0.2), Bin(0.5, 1.0, 6, 6, 0.9)), (Mistake(text, "", text, True, 0.2),),
    )  # fmt: skip
    return Card(result, result, share, share, 3, 2)


def test_the_marked_text_is_the_text_with_every_sentence_a_button():
    shown = marked_text_html(found()).split('<p class="marked-legend">')[0]
    seen = Seen(shown)
    assert seen.text == TEXT
    assert [value for name, value in seen.attributes if name == "data-place"] == ["0", "1", "2"]
    looks = [value for name, value in seen.attributes if name == "class" and "score-" in str(value)]
    assert looks == ["word score-low", "word score-high", "word score-near"]
    assert "score 0.90, flagged" in shown


@pytest.mark.parametrize(
    ("score", "look"), [(0.0, "low"), (0.3, "near"), (0.6, "flagged"), (0.79, "flagged"), (0.8, "high")]
)
def test_the_threshold_fixes_the_scale_and_the_legend_says_it(score, look):
    assert level(score, 0.6) == look
    assert "0.80 or more" in legend_html(0.6)
    assert "from 0.60 on" in legend_html(0.6)


def test_the_verdict_counts_and_never_calls_silence_a_proof():
    assert "1 of 3 sentences" in Seen(summary_html(found())).text
    assert "no proof" in Seen(summary_html(found(threshold=0.95))).text


def test_exports_are_the_lines_of_the_command_line():
    value = found()
    for form in ("csv", "jsonl"):
        shown = re.search(rf'data-form="{form}" hidden>(.*?)</pre>', exports_html(value), re.DOTALL)
        assert shown is not None
        assert html.unescape(shown.group(1)) == "".join(export(value.sentences, form))


def test_a_long_text_is_drawn_with_few_points_and_none_of_the_flagged_is_lost():
    scores = [0.1] * 2000
    scores[1234] = 0.99
    sentences = tuple(
        Sentence("x", 2 * n, 2 * n + 1, score, score >= 0.6, 0) for n, score in enumerate(scores)
    )
    shown = plot_html(Found("x " * 2000, sentences, Detector("x", None, 0.6)))  # type: ignore[arg-type]
    assert len(shown) < 20_000
    assert "0.99" in shown or shown.count("points=") >= 1


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_was_typed_can_run(payload):
    sentence = Sentence(payload, 0, len(payload), 0.9, True, 0)
    words = Deciding((Word(payload[:3], 0, 3),), 0.9, 0.1, 1, 5)
    alpha = AlphaContext((Word(payload[:3], 0, 3),), 0.5, 0.4, 0.1, 1, 5)
    near = (NearFamily(payload, True, 0.5, payload),)
    status = CadpStatus(payload, True, "failed", sentence=payload)
    for shown in (
        marked_text_html(found(payload, (0.9,))),
        exports_html(found(payload, (0.9,))),
        why_html(sentence, payload, words, near),
        model_context_html(payload, payload, alpha),
        card_html(card(payload)),
        compared_html(card(payload), card(payload)),
        status_html(status),
        answers_html(payload, payload, payload, payload),
    ):
        seen = Seen(shown)
        assert not seen.tags & {
            "script",
            "img",
            "iframe",
            "object",
            "style",
            "template",
            "video",
            "math",
            "input",
        }
        assert not [name for name, _ in seen.attributes if name.startswith("on")]
        assert "${" not in shown
        assert "{{" not in shown


@pytest.fixture(scope="module")
def client(served):
    return Client(served.url, verbose=False)


def test_the_endpoint_gives_every_sentence_with_offsets_that_hold(client):
    text = "Grüße 🌧! It rains in Lyon. My bank security code is 450."
    answer = client.predict(text=text, api_name="/detect")
    assert [text[each["start"] : each["end"]] for each in answer["sentences"]] == [
        each["text"] for each in answer["sentences"]
    ]
    assert answer["sentences"][-1]["flagged"] is True
    assert answer["flagged"] == sum(each["flagged"] for each in answer["sentences"])
    assert set(answer["sentences"][0]) == {"text", "start", "end", "score", "flagged"}
    only = client.predict(text=text, threshold=0.001, only_flagged=True, api_name="/detect")
    assert only["threshold"] == 0.001
    assert len(only["sentences"]) == only["flagged"] >= answer["flagged"]
    assert "shipped" in client.predict(api_name="/detectors")


@pytest.mark.parametrize(
    "asked", [{"text": ""}, {"text": "a", "detector": "/tmp"}, {"text": "a", "threshold": 7}, {"text": "a\0"}]
)
def test_a_bad_question_is_a_sentence(client, asked):
    with pytest.raises(AppError, match=r"[A-Z].*\."):
        client.predict(api_name="/detect", **asked)


def test_the_text_goes_to_sanitize_with_the_detector_as_policy_and_the_log_keeps_no_text(served):
    person = Caller(served, "protector")
    text = f"It rains. The password of my account is {SECRET}."
    assert "Find the sensitive" in person.call("protect", [text, None])["data"][0]
    marked = person.call("mark", [text, "shipped", 0.5, None])["data"]
    assert SECRET in html.unescape(marked[2])
    sent = person.call("protect", [text, None])["data"]
    assert sent[1] == text
    assert sent[2] == ["context"]
    assert "from a score of 0.50 on" in html.unescape(sent[4])
    assert "changed" in person.call("protect", [text + " More.", None])["data"][0]
    rows = served.studio.store.log.events(limit=50)
    assert {"detect", "protect"} <= {row.action for row in rows if row.panel == "detect"}
    assert SECRET not in "".join(map(str, rows))


def test_teaching_changes_this_session_and_only_the_curator_keeps_it_here(served):
    person = Caller(served, "teacher")
    said = person.call("teach", ["The heron nests by the third weir.", "", "shipped", None])["data"]
    assert "Learned 1 of 1" in html.unescape(said[0])
    assert "before" in said[0]
    assert said[2]["value"] == "taught"
    assert "octet-stream;base64," in said[0]
    assert "curator" in person.call("keep_taught", ["", "mine", None])["data"][0]
    assert not (served.studio.settings.data_dir / "detectors").exists()
    token = Client(served.url, verbose=False).predict(PASSWORD, api_name="/sign_in")
    assert "Kept as" in html.unescape(person.call("keep_taught", [token, "mine", None])["data"][0])
    other = Caller(served, "another")
    other.call("refresh_detectors", ["", None])
    marked = other.call("mark", ["The heron nests by the third weir.", "mine", 0.5, None])["data"]
    assert "1 of 1 sentence" in html.unescape(marked[1])
    assert "cannot be" in html.unescape(person.call("keep_taught", [token, "../up", None])["data"][0])
    assert "deleted" in person.call("delete_taught", [token, "mine", None])["data"][0]
    assert "curator" in other.call("keep_taught", ["wrong", "mine", None])["data"][0]


def watched(person: Caller, *words: str) -> str:
    """Looks at the training as the page's timer does, until one of the words is there."""
    for _ in range(3_000):
        shown = html.unescape(str(person.call("look_at_cadp", ["", None])["data"][1]))
        if any(word in shown for word in words):
            return shown
        time.sleep(0.1)
    raise AssertionError(f"never seen: {words}")


def test_cadp_on_the_demo_is_trained_stopped_continued_and_discarded_by_anyone_one_at_a_time(served):
    person, reached = Caller(served, "trainer"), [0]
    long = ["", "demo", "dp-sgd", 8.0, 100, 5.0, "shipped", None, 0.5]
    assert person.call("train_cadp", long)["data"] == [""]
    assert "under way" in html.unescape(person.call("train_cadp", long)["data"][0])
    for act in ("continue_cadp", "discard_cadp"):
        watched(person, ": Training</h2>")
        assert person.call("stop_cadp", ["", None])["data"] == [""]
        shown = watched(person, ": Stopped")
        assert "Continue goes on from there" in shown
        reached.append(int(re.findall(r"([\d,]+) of [\d,]+ steps", shown)[0].replace(",", "")))
        assert "continue or discard it first" in html.unescape(person.call("train_cadp", long)["data"][0])
        assert person.call(act, ["", None])["data"] == [""]
    assert reached == sorted(set(reached))  # each time further than before
    assert watched(person, "") == ""
    assert not any((served.studio.settings.data_dir / "cadp-training").iterdir())


def test_cadp_on_text_of_ones_own_is_for_the_curator_alone(served):
    curators = Curators(served.studio.settings)
    jobs = CadpJobs(served.studio.settings, served.studio.public)
    does = TrainingHandlers(Handlers(served.studio, curators), jobs)
    request = SimpleNamespace(session_hash="x")
    usual: tuple[Any, ...] = ("dp-sgd", 8.0, 5, 0.5, "shipped", None, 0.5, request)
    for token in ("", "guessed"):
        assert "by the curator" in html.unescape(does.train_cadp(token, "upload", *usual))
    assert "Choose one" in html.unescape(does.train_cadp("", "demo", "magic", *usual[1:]))
    assert "5 to 100" in html.unescape(does.train_cadp("", "demo", "cadp", 8.0, 500, *usual[3:]))
    assert jobs.status() is None


def test_an_unfinished_training_on_private_text_is_for_the_curator_alone(served):
    settings, curators = served.studio.settings, Curators(served.studio.settings)
    jobs = CadpJobs(settings, served.studio.public)
    does = TrainingHandlers(Handlers(served.studio, curators), jobs)
    request: Any = SimpleNamespace(session_hash="x")
    token = curators.sign_in(PASSWORD)
    corpus = Corpus(SECRET, (Document("u", "My PIN is 4417.", "notes", 1),))
    job = CadpJob("a1", f"{SECRET} notes", SECRET, False, settings.model, Recipe("dp-sgd"), state="stopped")
    folder = training_folder(settings, job.name)
    write_text(folder, corpus, [True])
    write_job(folder, job)
    for stranger in ("", "guessed"):
        seen = does.look_at_cadp(stranger)
        assert SECRET not in str(seen)
        assert job.id not in str(seen)
        begun = does.train_cadp(stranger, "demo", "dp-sgd", 8.0, 5, 0.5, "shipped", None, 0.5, request)
        assert "The curator's training comes first" in html.unescape(begun)
        for act in (does.stop_cadp, does.continue_cadp, does.discard_cadp):
            assert "no training here" in act(stranger, job.id, request)
    assert folder.is_dir()
    shown = html.unescape(str(does.look_at_cadp(token)))
    assert f"{SECRET} notes: Stopped" in shown
    assert does.discard_cadp(token, job.id, request) == ""
    assert not folder.exists()


def test_every_handler_of_the_panel_answers_nonsense_with_a_sentence(served):
    config = httpx.get(f"{served.url}/config").json()
    person = Caller(served, "vandal")
    for name in ("mark", "move", "ask_model", "protect", "keep_taught"):
        count = len(person.handlers[name]["inputs"])
        answer = person.call("train_cadp", [None] * count)
        assert "Traceback" not in json.dumps(answer)
    assert config["title"] == "SubMix Studio"
