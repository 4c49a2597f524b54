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
    arrival, said = Arrival(), []

    def bring(carrier, cache_dir, progress):
        progress(1, 2)
        said.append((carrier, arrival.step.doing))

    monkeypatch.setattr("core.arrival.bring", bring)
    monkeypatch.setattr("core.arrival.prepare_embedded", lambda settings: said.append(arrival.step.doing))
    bring_all(Settings(_env_file=None, cache_dir=tmp_path), arrival)
    assert [each[0] for each in said if isinstance(each, tuple)] == list(CARRIERS)
    assert said[1].startswith("The language model is made ready")
    assert arrival.step is None


class Waiting:
    """What the header looks at."""

    def __init__(self, ready: bool) -> None:
        self.arrival, self.ready = Arrival(), ready


def test_a_model_that_does_not_come_is_a_sentence_on_the_page():
    studio = Waiting(ready=False)
    assert arriving_html(studio) == ""
    with pytest.raises(ModelUnavailable), studio.arrival.going(Step("The language model arrives")):
        assert "The language model arrives" in arriving_html(studio)
        assert "aria-valuenow" not in arriving_html(studio)  # how far it is, nobody knows yet
        raise ModelUnavailable("The index cannot be reached.")
    assert "The index cannot be reached." in arriving_html(studio)
    studio.ready = True
    assert arriving_html(studio) == ""
