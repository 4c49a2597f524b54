"""Three answers in step, on a tiny real ensemble."""

import dataclasses
import threading

import numpy as np
import pytest

from core.ensembles import ServedEnsemble
from core.errors import InputError
from core.lm.public import load_public
from core.predict import Decoding
from core.predict.compare import Tally, in_turns, stream_in_step, visitors_frames
from core.predict.generate import stream_public
from core.settings import Settings
from core.store import open_store
from core.turns import Turns
from tests.ensembles import make_ensemble


@pytest.fixture(scope="module")
def here(tiny_llama, tmp_path_factory):
    return Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("here"), model=str(tiny_llama))


@pytest.fixture(scope="module")
def public(here):
    return load_public(here.model, here)


@pytest.fixture(scope="module")
def synthetic(here, public):
    return ServedEnsemble(make_ensemble(here, "notes", synthetic=True), public)


@pytest.fixture(scope="module")
def private(here, public):
    return ServedEnsemble(make_ensemble(here, "ward", synthetic=False), public)


@pytest.fixture
def ledger(settings):
    with open_store(settings) as store:
        yield store.ledger


def frames(served, ledger, settings, *, prompt="The night nurse", length=6, turns=None, **more):
    decoding = Decoding(temperature=0.9)
    return stream_in_step(
        served,
        served.account(ledger),
        prompt,
        decoding,
        length=length,
        limits=settings,
        turns=turns or Turns(),
        **more,
    )


def test_each_answer_has_its_own_tokens_and_ends_by_itself(synthetic, ledger, settings):
    seen = list(frames(synthetic, ledger, settings, length=12))
    for stream in ("protected", "unprotected", "public"):
        tokens = [getattr(frame, stream) for frame in seen]
        ended = tokens.index(None) if None in tokens else len(tokens)
        assert ended >= 1
        assert all(token is None for token in tokens[ended:])
    drawn = [frame.protected for frame in seen if frame.protected]
    assert ledger.budget("notes").used == len(drawn)


def test_the_unprotected_model_is_for_synthetic_corpora_only(private, ledger, settings):
    assert not private.has_unprotected
    seen = list(frames(private, ledger, settings))
    assert all(frame.unprotected is None for frame in seen)
    assert any(frame.protected and frame.public for frame in seen)


def test_a_visitors_frame_has_tokens_and_the_public_count_and_nothing_else(private, ledger, settings):
    for frame in visitors_frames(frames(private, ledger, settings)):
        assert frame.drawn is None
        assert frame.unprotected is None
        values = [getattr(frame, field.name) for field in dataclasses.fields(frame)]
        assert not any(isinstance(value, np.ndarray) for value in values)


def test_a_tally_counts_what_the_part_that_paid_most_paid(synthetic, ledger, settings):
    tally = Tally()
    assert tally.cost == 0.0
    list(frames(synthetic, ledger, settings, tally=tally))
    assert tally.cost == pytest.approx(2.0 - min(ledger.budget("notes").remaining), abs=1e-9)
    assert tally.cost > 0.0


def test_closing_ends_all_answers_and_charges_for_no_more_than_was_drawn(synthetic, ledger, settings):
    running = frames(synthetic, ledger, settings, length=30)
    next(running)
    running.close()
    assert ledger.budget("notes").used == 1


def test_a_used_up_budget_goes_on_from_the_public_model_and_says_so(synthetic, ledger, settings):
    ledger.open_budget(
        "notes", parts=4, epsilon=2.0, alpha=2.0, queries=3, protocol="strict", synthetic=True, w_max=0.7
    )
    seen: list = []
    while len(seen) < 5:  # an answer may end early
        seen += [
            frame.protected for frame in frames(synthetic, ledger, settings, length=8) if frame.protected
        ]
    assert [token.public for token in seen] == [number >= 3 for number in range(len(seen))]
    assert ledger.budget("notes").used == 3


def test_without_a_ledger_the_public_model_answers_with_the_reason(synthetic, settings):
    with open_store(settings) as store:
        account = synthetic.account(store.ledger)
        (settings.data_dir / "ledger.mark").write_text("nonsense")
        (first, *_) = stream_in_step(
            synthetic, account, "The", Decoding(), length=2, limits=settings, turns=Turns()
        )
    assert first.protected.public
    assert first.drawn.step is None
    assert first.drawn.problem
    assert (
        synthetic.account(store.ledger) is not None
    )  # asked while it is out of reach: no error, each draw says so


def test_a_rejected_prompt_charges_nothing(synthetic, ledger, settings):
    with pytest.raises(InputError, match="empty"):
        next(frames(synthetic, ledger, settings, prompt=" "))
    assert ledger.budget("notes").used == 0


def test_a_long_answer_lets_a_short_one_pass(public, settings):
    """Both share one line of turns: while the long one is under way, the short one comes to its end."""
    turns, order = Turns(), []

    def answer(name, length):
        stream = stream_public(public, "Soup, tea and", Decoding(), length=length, limits=settings)
        for _ in in_turns(stream, turns):
            order.append(name)

    long = threading.Thread(target=answer, args=("long", 200))
    long.start()
    while not order:
        pass
    answer("short", 3)
    last_short = len(order) - order[::-1].index("short")
    long.join()
    assert order[last_short:].count("long") > 0
