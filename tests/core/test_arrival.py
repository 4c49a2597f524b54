"""The models on their way: what a page can say while they come, and what it says when they do not."""

import pytest

from app.components.header import arriving_html
from core.arrival import Arrival, Step, bring_all
from core.embedded import CARRIERS
from core.errors import ModelUnavailable
from core.settings import Settings


def test_a_step_tells_how_far_it_is_and_ends():
    arrival = Arrival()
    with arrival.going(Step("The word vectors arrive")) as progress:
        assert arrival.step == Step("The word vectors arrive")
        progress(19_000_000, 76_000_000)
        step = arrival.step
        assert step is not None
        assert step.doing == "The word vectors arrive, 19 of 76 MB"
        assert step.share == 0.25
        assert step.seconds_left is not None
    assert arrival.step is None
    assert arrival.problem == ""


def test_everything_missing_is_brought_in_order_with_words_for_each(tmp_path, monkeypatch):
    arrival, brought, said = Arrival(), [], []

    def bring(carrier, cache_dir, progress):
        progress(1, 2)
        brought.append(carrier)
        said.append(arrival.step.doing)

    monkeypatch.setattr("core.arrival.bring", bring)
    monkeypatch.setattr("core.arrival.prepare_embedded", lambda settings: said.append(arrival.step.doing))
    bring_all(Settings(_env_file=None, cache_dir=tmp_path), arrival)
    assert brought == list(CARRIERS)
    assert said[1].startswith("The language model is made ready")
    assert arrival.step is None


def test_a_model_that_does_not_come_is_a_sentence_on_the_page():
    arrival = Arrival()
    assert arriving_html(arrival, ready=False) == ""

    def fail() -> None:
        with arrival.going(Step("The language model arrives")):
            assert "The language model arrives" in arriving_html(arrival, ready=False)
            assert "aria-valuenow" not in arriving_html(arrival, ready=False)  # how far it is, nobody knows
            raise ModelUnavailable("The index cannot be reached.")

    with pytest.raises(ModelUnavailable):
        fail()
    assert "The index cannot be reached." in arriving_html(arrival, ready=False)
    assert arriving_html(arrival, ready=True) == ""
