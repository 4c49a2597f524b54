"""CADP training from the shell: trained, stopped by Ctrl-C, listed, continued, discarded."""

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.context.cadp.files import read_card
from core.context.cadp.job import CadpJobs
from core.errors import InputError


@pytest.fixture
def home(tiny_llama, tmp_path, monkeypatch):
    """An installation that the commands find through the environment, and a text."""
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUBMIX_MODEL", str(tiny_llama))
    monkeypatch.setattr("core.context.cadp.run.give_way", lambda: None)  # nobody here would come first
    (tmp_path / "notes.txt").write_text("\n".join(f"Note {n}: the patient slept well." for n in range(40)))
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, ["cadp", *arguments])


def train(home, *more: str):
    usual = ["--mechanism", "dp-sgd", "--passes", "8", "--batch", "2", "--layers", "2", "--epsilon", "6"]
    return run("train", str(home / "notes.txt"), *usual, *more)


def press_ctrl_c(patch: pytest.MonkeyPatch) -> None:
    """As soon as three steps are made."""
    wait = CadpJobs.wait

    def waited(jobs: CadpJobs, seconds: float | None = None) -> bool:
        if seconds is None:
            return wait(jobs)
        while not wait(jobs, 0.01):
            if jobs.status().step >= 3:
                raise KeyboardInterrupt
        return True

    patch.setattr(CadpJobs, "wait", waited)


def test_ctrl_c_keeps_what_was_reached_and_continue_makes_the_model(home, monkeypatch):
    with monkeypatch.context() as patch:
        press_ctrl_c(patch)
        stopped = train(home, "--output", str(home / "out"))
    assert isinstance(stopped.exception, InputError), stopped.output
    assert "'notes' is unfinished" in str(stopped.exception)
    listed = run("trainings").output
    assert "notes: stopped" in listed
    assert "epsilon" in listed
    assert "notes: stopped, by CADP" in CliRunner().invoke(app, ["trainings"]).output
    assert "continue or discard" in str(train(home).exception)
    done = run("continue", "notes")
    assert done.exit_code == 0, (done.output, done.exception)
    assert "differential privacy" in done.output
    card = read_card(home / "out")
    assert 0.0 < card.epsilon <= 6.0
    assert f"over all {card.steps:,} steps" in done.output
    assert "Nothing is unfinished" in run("trainings").output
    assert not any((home / "data" / "cadp-training").iterdir())
    assert (home / "notes.txt").exists()  # the file is its owner's


def test_discard_deletes_it_and_a_name_that_is_not_there_is_a_sentence(home, monkeypatch):
    with monkeypatch.context() as patch:
        press_ctrl_c(patch)
        train(home)
    assert "are deleted" in run("discard", "notes").output
    assert not any((home / "data" / "cadp-training").iterdir())
    for command in ("continue", "discard"):
        assert "no unfinished training" in str(run(command, "notes").exception)


def test_training_without_privacy_is_for_text_that_is_declared_synthetic(home):
    refused = train(home, "--mechanism", "none")
    assert "synthetic text" in str(refused.exception)
