"""Predict in a browser, on a tiny model that answers at once: who sees what, and what goes wrong."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.client import Job
from gradio_client.utils import Status
from playwright.sync_api import Page, expect

from app.panels.predict.endpoints import CONCURRENT
from core.lm.decode import TextStream
from core.predict import generate as generation
from core.settings import Settings
from core.turns import Turns
from tests.app.payloads import ALL
from tests.browser.conftest import PASSWORD
from tests.browser.seeing import sideways, sign_in
from tests.ensembles import make_ensemble
from tests.serving import Served, serve

QUEUE = 3
HOSTILE = "<img src=x onerror=window.pwned=1> ${window.pwned=1} {{x}}"


TURNS = 3  # a token of each answer


class Given(Turns):
    """Turns that the test gives out, so that an answer stands where the test wants it, on any machine."""

    def __init__(self) -> None:
        super().__init__()
        self._given = threading.Semaphore(0)

    def give(self, tokens: int) -> None:
        """Let this many more tokens be drawn."""
        self._given.release(TURNS * tokens)

    def __enter__(self) -> None:
        super().__enter__()
        self._given.acquire()
        time.sleep(0.02)  # of tokens that come faster than anybody reads, the page shows some


@pytest.fixture(scope="module")
def served(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A synthetic and a private corpus, and one with a name that would like to run."""
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("data"),
        model=str(tiny_llama),
        port=0,
        curator_password=PASSWORD,
        queue_size=QUEUE,
    )
    make_ensemble(settings, "notes", synthetic=True)
    make_ensemble(settings, "ward", synthetic=False, queries=900)
    make_ensemble(settings, HOSTILE, synthetic=True)
    with serve(settings) as running:
        running.studio.warm_up().join()
        yield running


@pytest.fixture
def turns(served: Served) -> Iterator[Given]:
    """No token but those that the test gives."""
    given, free = Given(), served.studio.turns
    served.studio.turns = given
    yield given
    served.studio.turns = free
    given.give(1_000)  # whoever still waits may go


def opened(open_page: Callable[..., Page], path: str) -> Page:
    """A page on a corpus of one's own: the examples are not for it, so the prompt is to be typed."""
    page = open_page(path)
    expect(page.locator("#prompt textarea")).to_have_value("")
    expect(page.get_by_role("button", name="A patient's door code")).to_have_count(0)
    page.fill("#prompt textarea", "Soup, tea and")
    return page


def generate(page: Page) -> None:
    """One answer from its click to its verdict; the click itself takes the last verdict away."""
    page.click("#generate")
    expect(page.locator("#verdict .notice:not(.late)")).to_be_visible()
    expect(page.locator("#generate")).to_be_enabled()


def start_over(page: Page, said: str = "", **terms: str) -> None:
    """Type the terms and start over, until the page has `said` what it should, or the usual sentence."""
    said = said or f"over {terms['Queries']} queries"
    if not page.locator("#start-over").is_visible():
        page.get_by_role("button", name="Protocol and budget").click()
    for _ in range(3):  # what is typed in the moment in which a fold opens can be overtaken by its opening
        for label, value in terms.items():
            page.get_by_label(label).fill(value)
            page.get_by_label(label).blur()
        page.click("#start-over")
        expect(page.locator("#start-over-said .notice")).to_be_visible()
        page.wait_for_timeout(500)
        if said in page.inner_text("#start-over-said"):
            return
    expect(page.locator("#start-over-said")).to_contain_text(said)


def test_an_exhausted_budget_is_calm_and_answers_go_on(open_page):
    page = opened(open_page, "/?corpus=notes&length=30&top_k=1")  # one token to choose from, so no early end
    start_over(page, Queries="2")
    generate(page)
    if "from the public model" not in page.inner_text("#verdict"):  # it ended early, so ask once more
        generate(page)
    expect(page.locator(".meter-state")).to_have_text("Public model only")
    expect(page.locator("#quote")).to_contain_text("costs nothing")
    generate(page)
    assert "the budget is used up" in page.inner_text("#verdict")
    assert page.locator("#answers .protected .from-public").count() == 1
    assert page.locator(".notice.problem:visible").count() == 0
    assert page.locator("#verdict .notice").count() == 1
    assert page.locator("[role=meter]").get_attribute("aria-valuetext").endswith("Public model only.")
    start_over(page, Queries="500")
    expect(page.locator(".meter-state")).to_have_text("Healthy")


def test_numbers_out_of_their_limits_are_answered_in_sentences(open_page):
    page = opened(open_page, "/?corpus=notes&length=4")
    start_over(page, "Epsilon must be above 0", Epsilon="-3")
    expect(page.locator("#start-over-said .notice.problem")).to_be_visible()
    page.get_by_role("button", name="How tokens are drawn").click()
    page.get_by_label("number input for Length").fill("5000")
    expect(page.locator("#quote")).to_contain_text("256 tokens cost")
    page.get_by_label("number input for Length").blur()
    expect(page.get_by_label("number input for Length")).to_have_value("256")


def test_a_link_names_a_corpus_and_terms_that_are_not_its_own(open_page):
    page = open_page("/?corpus=ward&epsilon=7")
    expect(page.locator("#answers .answer")).to_have_count(2)  # no unprotected model of private text
    page.get_by_role("button", name="Protocol and budget").click()
    expect(page.get_by_label("Queries")).to_have_value("900")  # the corpus' own
    expect(page.get_by_label("Epsilon")).to_have_value("7")  # the link's
    expect(page.locator("#in-force")).to_contain_text("stays released")  # the server has looked at the corpus
    expect(page.get_by_label("Epsilon")).to_have_value("7")  # and nothing came over it


def test_a_visitor_of_a_private_corpus_and_its_curator(open_page, served):
    page = opened(open_page, "/?corpus=ward&length=3")
    expect(page.locator("#why")).to_contain_text("This corpus is private")
    generate(page)
    assert page.locator("#answers .answer").count() == 2  # no unprotected model of private text
    assert "What it cost is for the curator" in page.inner_text("#verdict")
    expect(page.locator("#meter")).to_contain_text("queries left")
    for hidden in ("#ribbon", ".bars", "#details svg", "#visitor"):
        assert page.locator(hidden).locator("visible=true").count() == 0
    page.get_by_role("button", name="Protocol and budget").click()
    expect(page.locator("#start-over")).to_be_disabled()
    expect(page.locator("#in-force")).to_contain_text("stays released")
    sign_in(page)
    left = f"{min(served.studio.ledger.budget('ward').remaining):.4f}"
    expect(page.locator("#meter")).to_contain_text(f"{left} of 2 left")
    expect(page.locator(".bars")).to_be_visible()
    generate(page)
    assert "cost at most" in page.inner_text("#verdict")
    page.get_by_label("Visitor's view").check()
    expect(page.locator("#meter")).to_contain_text("queries left")
    expect(page.locator("#verdict")).not_to_contain_text("cost at most")
    expect(page.locator(".bars")).to_have_count(0)
    page.get_by_label("Visitor's view").uncheck()
    page.reload()
    expect(page.locator(".bars")).to_be_visible()  # the browser keeps the token, the server checks it
    page.get_by_role("button", name="Curator").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator(".bars")).to_have_count(0)


def test_the_meter_follows_every_token_and_keeps_its_nodes(open_page, turns):
    page = opened(open_page, "/?corpus=notes&length=60&top_k=1")  # one token to choose from, so no early end
    start_over(page, Queries="900")
    page.evaluate("document.querySelector('.meter').kept = document.querySelector('.bars').kept = true")
    turns.give(5)
    page.click("#generate")
    expect(page.locator("#ribbon .token").nth(3)).to_be_visible()
    page.evaluate("document.querySelector('#ribbon .token').focus()")
    turns.give(6)
    expect(page.locator("#ribbon .token").nth(9)).to_be_visible()
    assert page.evaluate("document.activeElement.matches('#ribbon .token')")  # focus survives an update
    assert page.evaluate("document.querySelector('.meter').kept && document.querySelector('.bars').kept")
    page.click("#stop")
    turns.give(1)  # it is stopped between two tokens
    expect(page.locator("#generate")).to_be_enabled()


def test_a_reload_in_mid_answer_stops_the_spending_and_shows_what_is_left(open_page, served, turns):
    log, ledger = served.studio.store.log, served.studio.ledger
    page = opened(open_page, "/?corpus=notes&length=120&top_k=1")
    start_over(page, Queries="900")
    turns.give(4)
    page.click("#generate")
    expect(page.locator("#ribbon .token").nth(2)).to_be_visible()
    page.reload()
    page.wait_for_selector("#generate")
    for _ in range(110):  # the server sees at its own time that nobody listens
        if log.events(limit=1)[0].action == "generate":  # it is noted when it has ended
            break
        turns.give(1)
        page.wait_for_timeout(1_000)
    assert log.events(limit=1)[0].outcome == "stopped"
    used = ledger.budget("notes").used
    turns.give(20)
    page.wait_for_timeout(1_000)
    assert ledger.budget("notes").used == used < 120
    page.reload()
    expect(page.locator("#meter")).to_contain_text(f"{used} of 900 queries used")


def test_a_full_queue_is_a_sentence_and_the_page_goes_on(open_page, served):
    page = opened(open_page, "/?corpus=notes&length=4&top_k=1")
    start_over(page, Queries="900")
    client = Client(served.url, verbose=False)
    with served.studio.turns:  # nobody draws a token, so whoever is let in stays
        accepted = []
        while len(accepted) < CONCURRENT + QUEUE:
            job = client.submit("Soup", length=2, corpus="notes", api_name="/generate")
            if let_in(job):
                accepted.append(job)
        page.click("#generate")
        expect(page.locator("#verdict .notice.problem")).to_contain_text("too many are waiting here")
        expect(page.locator("#generate")).to_be_enabled()
        expect(page.locator("#stop")).to_be_disabled()
        page.get_by_role("tab", name="Corpora").click()  # other panels do not wait for the models
        expect(page.locator("#ensembles table")).to_contain_text("notes")
        page.get_by_role("tab", name="Log").click()
        expect(page.locator("#log-ledger table")).to_contain_text("notes")
        page.get_by_role("tab", name="Predict").click()
    assert [text for text, _ in (job.result(240) for job in accepted)]
    generate(page)
    assert "tokens cost at most" in page.inner_text("#verdict")


def let_in(job: Job) -> bool:
    """Whether the queue has taken this one; it says so, or it has ended with a refusal."""
    while job.status().code not in (Status.IN_QUEUE, Status.PROCESSING):
        if job.done():
            return False
        time.sleep(0.05)
    return True


def chunks(payloads: list[str], most: int = 170) -> Iterator[str]:
    """The payloads in prompts that the tiny model can read."""
    text = ""
    for payload in payloads:
        if text and len(text) + len(payload) > most:
            yield text
            text = ""
        text += f"{payload}\n"
    yield text


def test_nothing_typed_runs_or_breaks_the_page(open_page):
    page = opened(open_page, "/?corpus=notes&length=1")
    for prompt in chunks(ALL):
        page.fill("#prompt textarea", prompt)
        generate(page)
        assert page.locator("#verdict .notice.done").count() == 1
        for column in ("protected", "unprotected", "public"):
            assert page.inner_text(f"#answers .{column} .prompt").split() == prompt.split()
    assert page.evaluate("window.pwned") is None
    assert sideways(page) <= 0


def test_nothing_that_a_model_says_and_no_name_runs_or_breaks_the_page(open_page, monkeypatch):
    """The model itself says the payloads here, one with each token, about a corpus with such a name."""

    class Says(TextStream):
        def __init__(self, public):
            super().__init__(public)
            self._left = list(ALL)

        def push(self, token: int) -> str:
            return self._left.pop(0) if self._left else ""

        def flush(self) -> str:
            return ""

    page = opened(open_page, "/?corpus=notes&length=70")
    page.get_by_role("listbox", name="Corpus").or_(page.get_by_label("Corpus")).first.click()
    page.get_by_role("option", name=HOSTILE).click()
    expect(page.locator("#meter")).to_contain_text("0 of 64 queries used")  # the page has come to it
    start_over(page, Queries="900")
    page.fill("#prompt textarea", "Soup, tea and")
    monkeypatch.setattr(generation, "TextStream", Says)
    for _ in range(8):  # an answer may end early
        generate(page)
        if page.locator("#ribbon .token").count() >= len(ALL):
            break
    assert page.locator("#ribbon .token").count() >= 30
    assert ALL[5] in page.inner_text("#answers .protected .made")
    page.locator("#ribbon .token").nth(3).hover()
    page.evaluate("document.querySelectorAll('#ribbon .token')[21].focus()")
    page.wait_for_timeout(500)
    assert page.evaluate("window.pwned") is None
    assert page.locator("#answers .answer").count() == 3
    assert sideways(page) <= 0
    page.get_by_role("tab", name="Log").click()
    expect(page.locator("#log-ledger table")).to_contain_text("<img src=x")
    assert page.evaluate("window.pwned") is None
