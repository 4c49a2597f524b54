"""Presidio's recognisers without its engine: the same places, no network, and nothing unread passes."""

import random
import socket

import pytest

from core.sanitize.patterns import LONGEST_RUN, SEGMENT, Patterns, installed_model, recognisers
from core.sanitize.segments import segments

PIECES = [
    "Write to ann.b@example.com or bob@mail.example.co.uk.",
    "My card 4111 1111 1111 1111 and 4012888888881881 are blocked.",
    "Call 212-555-5555 or +44 20 7946 0958 today.",
    "IBAN GB33BUKB20201555555555, also DE89370400440532013000 2 days.",
    "See https://www.example.org/a?b=c and example.com for more.",
    "SSN 078-05-1120, ITIN 912-70-1234, passport 912803456.",
    "From 192.168.1.77 and fe80::1ff:fe23:4567:890a, MAC 00:1B:44:11:3A:B7.",
    "On 12/05/1961 or 2010-06-01 she wrote.",
    "Wallet 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa was empty.",
    "NHS 943 476 5919, licence H12234567, DEA BB1388568.",
    "Id 123e4567-e89b-12d3-a456-426614174000 is gone.",
    "Nothing to see here, only 3 plain words and the year 1984.",
    "Zoë 🙂 schrieb an zoë@bücher.example und an joe@example.de; 東京 03-1234-5678.",
]


def covered(text, spans):
    """The characters of each kind."""
    return {(kind, at) for start, end, kind in spans for at in range(start, end)}


@pytest.fixture(scope="module")
def engine():
    """Presidio's engine on a blank English pipeline, with the same recognisers."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    nlp = SpacyNlpEngine()
    nlp.nlp = {"en": spacy.blank("en")}
    registry = RecognizerRegistry(recognizers=list(recognisers()), supported_languages=["en"])
    return AnalyzerEngine(registry=registry, nlp_engine=nlp, supported_languages=["en"])


def test_every_place_is_one_that_presidio_finds_and_none_is_missing(engine):
    rng = random.Random(5)
    texts = [*PIECES, *(" ".join(rng.sample(PIECES, 6)) for _ in range(6)), "\n".join(PIECES * 3)]
    kinds = set()
    for text in texts:
        theirs = [(r.start, r.end, r.entity_type) for r in engine.analyze(text, "en")]
        ours = [(s.start, s.end, s.reason.replace(" ", "_").upper()) for s in Patterns().spans(text)]
        assert covered(text, ours) == covered(text, theirs)
        kinds |= {kind for _, _, kind in theirs}
    assert len(kinds) >= 10, "the texts exercise the recognisers"


def test_an_address_is_one_thing_from_end_to_end():
    text = "mail ann.b@example.com now"
    spans = [span for span in Patterns().spans(text) if span.reason == "email address"]
    assert [(text[span.start : span.end], span.whole) for span in spans] == [("ann.b@example.com", True)]


def test_no_recogniser_asks_the_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a recogniser asked the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert Patterns().spans("ann@example.com, www.example.org, bob@unknown.zzz")


def test_a_number_across_the_edge_of_a_segment_is_found():
    for shift in (0, 3, 9, 15):
        text = "word " * ((SEGMENT - 10) // 5) + "x" * shift + " 4111 1111 1111 1111 " + "word " * 100
        at = text.index("4111")
        whole = {place for span in Patterns().spans(text) for place in range(span.start, span.end)}
        assert set(range(at, at + 19)) <= whole


def test_a_run_that_is_too_long_to_read_is_sensitive_as_it_is():
    run = "a." * LONGEST_RUN
    text = f"before {run} after ann@example.com"
    spans = {text[span.start : span.end]: span for span in Patterns().spans(text)}
    assert spans[run].reason == "long run"
    assert spans[run].whole
    assert "ann@example.com" in spans


def test_a_segment_that_is_not_read_in_time_is_sensitive_word_by_word(monkeypatch):
    monkeypatch.setattr("core.sanitize.patterns._SECONDS", 0.02)
    text = "a." * 450 + " and more"
    assert any(
        span.reason == "not readable in time" and (span.start, span.end, span.whole) == (0, len(text), False)
        for span in Patterns().spans(text)
    )


def test_names_are_found_with_a_spacy_model_and_only_then(tmp_path):
    import spacy

    assert installed_model() == "", "this environment has no model; the next lines make one"
    text = "Ann Miller lives in Leeds"
    assert Patterns().spans(text) == []
    nlp = spacy.blank("en")
    patterns = [{"label": "PERSON", "pattern": "Ann Miller"}, {"label": "GPE", "pattern": "Leeds"}]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "model")
    found = [
        (text[s.start : s.end], s.reason, s.whole) for s in Patterns(str(tmp_path / "model")).spans(text)
    ]
    assert found == [("Ann Miller", "person", False), ("Leeds", "location", False)]


def test_segments_cover_a_text_and_end_between_words():
    text = "one two three\n\nfour five six seven\neight " * 50 + "x" * 300
    pieces = [text[start:end] for start, end in segments(text, 100)]
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100
    assert all(piece[-1].isspace() for piece in pieces[:-4])
