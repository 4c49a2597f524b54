"""Corpora: from an upload to an ensemble over HTTP, with and without the curator's token."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gradio as gr
import httpx
import pytest

from app.components.markup import escape
from app.identity import Curators
from app.panels.corpora import layout, look
from app.panels.corpora.asked import plan_from, suggested_name
from app.panels.corpora.handlers import Handlers
from app.panels.corpora.keeping import Keeping
from core.corpus import Corpus, Document, partition_corpus, report_corpus
from core.curator.guidance import guide
from core.curator.status import Curve, JobStatus
from core.curator.uploads import Upload
from core.errors import InputError
from core.store import Budget
from tests.app.calling import Caller, file_at, unchanged
from tests.app.conftest import PASSWORD
from tests.app.payloads import PAYLOADS
from tests.core.corpus.uploads import BAD_UPLOADS
from tests.core.curator.texts import notes, write_notes
from tests.ensembles import make_ensemble

BAD = {  # of those in tests/core/corpus, one of each kind that is small
    "0 bytes", "only spaces", "unknown ending", "NUL in text", "control characters", "UTF-16 cut short",
    "pickle as CSV", "gzip as CSV", "PNG as text", "PDF as text", "no header", "header twice",
    "no text column", "JSON over many lines", "lone surrogates", "nested zip", "zip with ../",
    "zip of pickles", "empty zip", "zip cut short", "spreadsheet", "text named zip", "Parquet cut short",
    "Parquet with garbage",
}  # fmt: skip
OWN_TAGS = {
    "a", "caption", "circle", "dd", "desc", "div", "dl", "dt", "h2", "li", "line", "p", "polyline", "rect",
    "section", "span", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip
READING = ["", "", False, False]
PLANNING = ["my ward", 2, "strict", False, 2.0, 2.0, 64, 0.5, 1, 2, False, False]


@pytest.fixture(scope="module")
def curator(served):
    caller = Caller(served)
    caller.token = caller.call("sign_in", [PASSWORD])["data"][0]
    return caller


@pytest.fixture
def clean(served):
    """Nothing waits and nothing is unfinished before a test."""
    jobs = served.studio.jobs
    jobs.wait(240)
    for status in jobs.statuses():
        if status.kept:
            jobs.discard(status.id)
    if (upload := jobs.waiting()) is not None:
        jobs.uploads.delete(upload.id)
    return jobs


def files(folder: Path) -> dict[str, int]:
    """Everything below a folder, with its time: what changed is seen."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in found}


def kept(served) -> dict[str, int]:
    """What a handler of this panel could leave or take away."""
    data = served.studio.settings.data_dir
    return {f"{name}/{path}": at for name in ("uploads", "training", "ensembles", "imprints")
            for path, at in files(data / name).items()}  # fmt: skip


def follow(curator: Caller) -> dict:
    """Looks at the training as the page's timer does, until it ends."""
    for _ in range(2_000):
        seen = curator.asks("tick")
        if "progressbar" not in seen["training"]:
            return seen
        time.sleep(0.1)
    raise AssertionError("the training did not end")


def test_upload_report_train_rename_delete_over_http(served, curator, clean, tmp_path):
    sent = curator.upload(write_notes(tmp_path / "ward.jsonl"))
    read = curator.asks("upload", sent, *READING)
    assert not Path(sent["path"]).exists()
    assert not Path(sent["path"]).parent.exists()
    assert "ward.jsonl is here" in read["corpus-said"]
    assert "<dd>12</dd>" in read["corpus-report"]
    assert "2 (advised)" in read["corpus-guidance"]
    assert "Training takes" in curator.asks("estimate", *READING, *PLANNING)["training-estimate"]
    begun = curator.asks("train", *READING, *PLANNING)
    assert begun["training-refused"] == ""
    assert curator.asks("open_desk")["training"]  # a page that is opened now finds it
    seen = follow(curator)
    assert "my ward: Trained" in seen["training"]
    assert "?panel=predict&corpus=my%20ward" in seen["training"]
    assert "private" in seen["ensembles"]
    assert served.studio.ledger.budget("my ward").parts == 2
    assert [name for name in kept(served) if name.startswith(("uploads", "training"))] == []
    assert "called 'night ward' now" in curator.asks("rename", "my ward", "night ward")["keeping-said"]
    assert "budget: my ward" in curator.asks("open_desk")["ensembles"]
    curator.asks("ask", "night ward")
    deleted = curator.asks("delete", "night ward")
    assert "Its budget stays in the ledger" in deleted["keeping-said"]
    assert served.studio.ledger.corpora() == ["my ward"]
    actions = {event.action for event in served.studio.store.log.events(panel="corpora")}
    assert actions == {"upload", "submit", "train", "rename", "delete"}


@pytest.mark.parametrize("token", ["", "forged"])
def test_without_the_token_nothing_is_told_and_nothing_changes(served, curator, clean, tmp_path, token):
    settings = served.studio.settings
    make_ensemble(settings, "closed ward", synthetic=False)
    budget = {"parts": 4, "epsilon": 2.0, "alpha": 2.0, "queries": 64, "protocol": "strict"}
    if served.studio.ledger.budget("closed ward") is None:
        served.studio.ledger.open_budget("closed ward", synthetic=False, **budget)
        served.studio.ledger.debit("closed ward", [0.4321] * 4)
    curator.asks("upload", curator.upload(write_notes(tmp_path / "orlando.jsonl")), *READING)
    before, events = kept(served), len(served.studio.store.log.events(limit=1000))
    stranger = Caller(served, session="stranger")
    stranger.token = token
    values: dict[str, Callable[[], list]] = {
        "upload": lambda: [stranger.upload(write_notes(tmp_path / "mine.jsonl")), *READING],
        "rename": lambda: ["closed ward", "open ward"],
        "ask": lambda: ["closed ward"],
        "delete": lambda: ["closed ward"],
        **{name: lambda: [*READING, *PLANNING] for name in ("train", "guide", "estimate")},
        **{name: lambda: READING for name in ("read", "read_anew")},
        **{name: lambda: ["any"] for name in ("stop", "resume", "discard")},
        **dict.fromkeys(("open_desk", "tick", "forget", "keep"), list),
    }
    handlers = [name for name, each in stranger.handlers.items() if _is_ours(stranger, each)]
    assert {_bare(name) for name in handlers} == set(values)  # a new handler must be tried here too
    for name in handlers:
        answer = stranger.call(name, [token, *values[_bare(name)]()])
        # Gradio itself refuses what the stranger's own page does not offer; all else reaches our check
        assert "data" in answer or "not in the list of choices" in answer["error"], (name, answer)
        assert not any(word in str(answer) for word in ("orlando", "0.4321", "patient-")), name
    assert kept(served) == before
    assert len(served.studio.store.log.events(limit=1000)) == events
    assert "orlando" in curator.asks("open_desk")["corpus-said"]


def test_a_stranger_who_reaches_every_handler_is_a_visitor(served):
    """The same past Gradio's own checks: the handlers as Python calls them."""
    curators, request = Curators(served.studio.settings), gr.Request(session_hash="stranger")
    with gr.Blocks():
        page = layout.build()
    before, visitor = kept(served), Keeping(served.studio, curators, page).visitor()
    tried = 0
    for desk in (Handlers(served.studio, curators, page), Keeping(served.studio, curators, page)):
        for name in vars(type(desk)).keys() - {"upload"}:  # which is tried with a file of its own, below
            if not name.startswith("_"):
                tried += 1
                assert str(getattr(desk, name)("forged", request, "ward", "x")) == str(visitor), name
    assert tried == 14
    assert kept(served) == before


def _bare(name: str) -> str:
    """A handler's name without the number that tells its events apart."""
    return re.sub(r"_\d+$", "", name)


def _is_ours(caller: Caller, handler: dict) -> bool:
    named = {caller.components[number]["props"].get("elem_id") for number in handler["outputs"]}
    return "corpora-gate" in named


@pytest.mark.parametrize("bad", [bad for bad in BAD_UPLOADS if bad.label in BAD], ids=lambda bad: bad.label)
def test_a_bad_file_is_a_sentence_and_leaves_nothing(served, curator, clean, tmp_path, bad):
    bad.write(tmp_path / bad.name)
    before, sent = kept(served), curator.upload(tmp_path / bad.name)
    seen = curator.asks("upload", sent, *READING)
    assert 'role="alert"' in seen["corpus-said"]
    assert seen["corpora-plan"]["visible"] is False
    assert kept(served) == before
    assert not Path(sent["path"]).exists()


def test_only_uploads_are_read_and_nothing_is_fetched(served, curator, clean, tmp_path):
    private = write_notes(tmp_path / "private.jsonl")
    key = served.studio.settings.data_dir / "key"
    for path in ("https://example.org/a.jsonl", str(private), str(key), "../../etc/passwd", ""):
        answer = curator.call("upload", [curator.token, file_at(path), *READING])
        assert "error" in answer or unchanged(answer), path
    assert private.exists()
    assert key.exists()
    assert clean.waiting() is None
    page = httpx.get(f"{served.url}/gradio_api/file=https://example.org/")
    assert (page.status_code, page.json()["detail"]) == (403, "Nothing is fetched from other hosts here.")


def test_a_declaration_without_a_text_changes_nothing(curator, clean):
    answer = curator.call("read_anew", [curator.token, "", "", True, True])
    assert unchanged(answer)


def test_what_a_handler_writes_does_not_call_it_again(served):
    written = [fn for fn in served.app.blocks.fns.values() if fn.name in {"read_anew", "guide", "estimate"}]
    assert len(written) >= 3
    assert {name for fn in written for _, name in fn.targets} <= {"input", "blur", "release", "then"}


def test_one_user_is_reported_and_the_way_out_is_named(curator, clean, tmp_path):
    path = tmp_path / "diary.txt"
    path.write_text("\n\n".join(f"Day {day}: it rained and we stayed at home." for day in range(30)))
    seen = curator.asks("upload", curator.upload(path), *READING)
    assert "has one user only" in seen["corpus-guidance"]
    assert "<dd>30</dd>" in seen["corpus-report"]
    anew = curator.asks("read_anew", "", "", True, False)
    assert "(advised)" in anew["corpus-guidance"]


def test_what_stands_in_the_way_is_said_and_the_text_waits_on(curator, clean, tmp_path, monkeypatch):
    assert "upload one first" in curator.asks("train", *READING, *PLANNING)["training-refused"]
    curator.asks(
        "upload", curator.upload(write_notes(tmp_path / "w.jsonl", notes(12, "drank tea"))), *READING
    )
    for place, value, sentence in (
        (0, "../x", "no name"),
        (4, None, "fill it in"),
        (10, True, "recites"),
    ):
        plan = [*PLANNING[:place], value, *PLANNING[place + 1 :]]
        assert sentence in curator.asks("train", *READING, *plan)["training-refused"]
    monkeypatch.setenv("SPACE_ID", "somebody/studio")
    assert "SUBMIX_DATABASE_URL" in curator.asks("train", *READING, *PLANNING)["training-refused"]
    assert clean.waiting() is not None
    assert "deleted" in curator.asks("forget")["corpus-said"]
    assert clean.waiting() is None


def test_a_shared_document_is_refused_until_the_curator_declares_it(served, curator, clean, tmp_path):
    rows = notes(12, "was moved to the quiet room")
    for name, add, refused in (("first", False, ""), ("second", False, "also in"), ("second", True, "")):
        curator.asks("upload", curator.upload(write_notes(tmp_path / "s.jsonl", rows)), *READING)
        seen = curator.asks("train", *READING, name, *PLANNING[1:-1], add)
        assert refused in seen["training-refused"]
        assert bool(seen["training-refused"]) == bool(refused)
        if not refused:
            follow(curator)
    assert "adds to first" in curator.asks("open_desk")["ensembles"]


def test_without_a_password_the_panel_says_how_to_become_the_curator():
    assert "SUBMIX_CURATOR_PASSWORD" in look.gate_html(False, False)
    assert "sign in" in look.gate_html(False, True)
    assert "notice" not in look.gate_html(True, True)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_came_from_outside_can_run(payload, tmp_path):
    """File name, user id, text, name and sentence: all of them as somebody hostile would choose them."""
    from datetime import UTC, datetime

    corpus = Corpus(payload, (Document(payload, "Word " * 9, payload, 1), Document("b", payload, "f", 2)))
    partition = partition_corpus(corpus, 2, key=b"k" * 32) if _fills(corpus) else None
    curve = Curve(payload, ((1.0, 2.0), (2.0, 1.0), (3.0, 1.0)))
    status = JobStatus("id", payload, "failed", 0.5, 9.0, payload, (curve,) * 2, payload, (payload,))
    made = [
        look.report_html(report_corpus(corpus, partition=partition)),
        look.waiting_html(Upload("id", tmp_path / payload.replace("/", ""), datetime.now(UTC))),
        look.status_html(status),
        look.status_html(replace(status, state="done", curves=(curve,) * 9)),
        look.status_html(replace(status, state="running")),
    ]
    for html in made:
        assert payload not in html or escape(payload) == payload  # plain words are shown as they are
        assert not any(sign in html for sign in ("${", "{{", "`", "\\"))
        assert set(re.findall(r"</?([a-zA-Z!][\w-]*)", html)) <= OWN_TAGS


def _fills(corpus: Corpus) -> bool:
    try:
        guide(corpus, key=b"k" * 32)
    except InputError:
        return False
    return True


def test_what_was_spent_is_for_the_curator(served):
    from datetime import UTC, datetime

    make_ensemble(served.studio.settings, "spent ward", synthetic=False)
    entry = served.studio.entry("spent ward")
    budget = Budget(
        "spent ward", 4, 2.0, 2.0, 64, "strict", False, datetime.now(UTC), (1.2345,) * 4, 7, False
    )
    assert "0.7655" in look.ensembles_html([entry], {"spent ward": budget}, curator=True)
    hidden = look.ensembles_html([entry], {"spent ward": budget}, curator=False)
    assert "0.7655" not in hidden
    assert "7 of 64" in hidden


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "less than a minute"), (70, "about a minute"), (600, "about 10 minutes"), (9000, "about 2.5 hours")],
)
def test_times_are_spoken_as_roughly_as_they_are_known(seconds, words):
    assert look.spoken(seconds) == words


def test_a_name_is_suggested_from_any_file_name():
    assert suggested_name("Ward notes 2026") == "Ward notes 2026"
    assert suggested_name("  ..<b>${x}/") == "bx"
    assert suggested_name("\n") == "my text"
    assert len(suggested_name("ü" * 300).encode()) <= 120


def test_submix_is_trained_with_halves():
    assert plan_from([*PLANNING[:2], "submix", *PLANNING[3:]]).plan.halves


def test_an_upload_by_somebody_else_is_deleted_from_the_cache(served, tmp_path):
    stranger = Caller(served)
    sent = stranger.upload(write_notes(tmp_path / "theirs.jsonl"))
    assert Path(sent["path"]).exists()
    stranger.call("upload", ["", sent, *READING])
    assert not Path(sent["path"]).exists()


def test_a_waiting_text_cannot_be_fetched_from_the_server(served, curator, clean, tmp_path):
    curator.asks("upload", curator.upload(write_notes(tmp_path / "w.jsonl")), *READING)
    path = clean.waiting().path
    assert httpx.get(f"{served.url}/gradio_api/file={path}").status_code in (400, 403, 404)
