"""The curator's work from the shell: the same checks as on the page, in words."""

import json

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.curator.uploads import Reading
from core.errors import InputError
from core.settings import load_settings
from core.studio import Studio
from tests.core.curator.texts import notes, plan, stop_at, write_notes
from tests.ensembles import make_ensemble

TRAIN = ["--parts", "2", "--passes", "1", "--layers", "2", "--rank", "2"]


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def home(tiny_llama, tmp_path, monkeypatch):
    """An installation that the commands find through the environment."""
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUBMIX_MODEL", str(tiny_llama))
    return tmp_path


def test_train_list_rename_and_delete(home):
    text = write_notes(home / "ward.jsonl")
    trained = run("train", str(text), *TRAIN)
    assert "Budget: epsilon 2 at alpha 2" in trained.output, trained.output
    assert text.exists()  # the file is its owner's
    assert not any((home / "data" / "training").iterdir())
    assert "its budget in the ledger is still ward" in run("rename", "ward", "night ward").output
    listed = run("ensembles").output
    assert "night ward: private" in listed
    assert (
        run(
            "delete",
            "night ward",
        ).exit_code
        == 1
    )  # asked, and nobody answered
    assert "night ward" in run("ensembles").output
    assert "budget ward stays" in run("delete", "night ward", "--yes").output
    assert "night ward" not in run("ensembles").output
    assert "ward (private" in run("ledger", "show").output


def test_the_same_text_is_refused_under_another_name_until_it_is_declared(home):
    text = write_notes(home / "ward.jsonl")
    run("train", str(text), *TRAIN)
    refused = run("train", str(text), *TRAIN, "--name", "again")
    assert isinstance(refused.exception, InputError)
    assert "12 of 12 documents are also in 'ward'" in str(refused.exception)
    declared = run("train", str(text), *TRAIN, "--name", "again", "--guarantees-add")
    assert declared.exit_code == 0, declared.output
    assert "the guarantees add" in declared.output
    manifest = json.loads((home / "data" / "ensembles" / "again" / "manifest.json").read_text())
    assert manifest["partition"]["adds_to"] == ["ward"]
    split = run("train", str(text), *TRAIN[2:], "--parts", "3")
    assert "another split would move users" in str(split.exception)


def test_ensembles_in_folders_of_their_own_do_not_move_users_either(home):
    """Four parts and two parts of two halves have the same number of remainders, and other people in them."""
    text = write_notes(home / "ward.jsonl", notes(40))
    first = run("train", str(text), *TRAIN[2:], "--parts", "4", "--output", str(home / "first"))
    assert first.exit_code == 0, first.output
    for how in (["--parts", "2", "--halves"], ["--parts", "3"]):
        moved = run("train", str(text), *TRAIN[2:], *how, "--output", str(home / "second"))
        assert "another split would move users" in str(moved.exception)
    declared = run(
        "train", str(text), *TRAIN[2:], "--parts", "4", "--synthetic", "--output", str(home / "second")
    )
    assert "stays private, whatever is declared" in str(declared.exception)
    assert not (home / "second").exists()
    again = run("train", str(text), *TRAIN[2:], "--parts", "4", "--output", str(home / "second"))
    assert again.exit_code == 0, again.output


def test_an_unfinished_training_of_the_page_is_listed_continued_or_discarded(home, monkeypatch):
    assert "Nothing is unfinished" in run("trainings").output
    for name, command, said in (("first", "continue", "part-02"), ("second", "discard", "are deleted")):
        studio = Studio(load_settings())
        with monkeypatch.context() as patch:
            stop_at(patch, 0.3)
            text = write_notes(home / f"{name}.jsonl", notes(12, f"is the {name} one who went home"))
            studio.jobs.submit(studio.jobs.take(text), Reading(), plan(), name)
            assert studio.jobs.wait(120)
        studio.jobs.close()
        studio.store.close()
        assert f"{name}: cancelled" in run("trainings").output
        refused = run("train", str(write_notes(home / f"{name}.jsonl")), *TRAIN)
        assert "begun on the page is unfinished" in str(refused.exception)
        done = run(command, name)
        assert said in done.output, (done.output, done.exception)
        assert "Nothing is unfinished" in run("trainings").output
        assert not any((home / "data" / "uploads").iterdir())
    assert "no unfinished training" in str(run("discard", "second").exception)
    assert "first: private" in run("ensembles").output


def test_compare_shows_what_the_page_shows(home):
    make_ensemble(load_settings(), "notes", synthetic=True)
    make_ensemble(load_settings(), "ward", synthetic=False)
    said = run("compare", "notes", "--prompt", "The night nurse", "--length", "4").output
    assert [line.split(":")[0] for line in said.splitlines() if ": The night nurse" in line] == [
        "Protected", "Unprotected", "Public"
    ]  # fmt: skip
    assert "cost at most" in said
    private = run("compare", "ward", "--prompt", "The night nurse", "--length", "4").output
    assert "Unprotected" not in private
    left = run("budget", "ward", "--candidates", "50").output
    assert "one of 50 candidates" in left
    assert left.split("left of each part: ")[1].splitlines()[0].count(",") == 3


def test_the_report_of_a_file_says_how_many_parts(home):
    assert "parts" in run("corpus", "report", str(write_notes(home / "ward.jsonl"))).output.splitlines()[-1]
    (home / "diary.txt").write_text("One person wrote this.\n\nAnd this.")
    assert "one user only" in run("corpus", "report", str(home / "diary.txt")).output
