"""`python -m core attack`, from the shell: run, cancel, list, report, share; each mistake is a sentence."""

import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.attack.kept.storage import list_runs
from core.errors import InputError
from tests.core.attack.notes import notes
from tests.ensembles import make_ensemble


@pytest.fixture
def home(settings, tiny_llama, monkeypatch):
    """A studio on a tiny model with one ensemble, found through the environment."""
    settings = settings.model_copy(update={"model": str(tiny_llama)})
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("SUBMIX_MODEL", settings.model)
    make_ensemble(settings, "notes", synthetic=True)
    return settings


def attack(*arguments):
    result = CliRunner().invoke(app, ["attack", *map(str, arguments)])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def rows_of(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def users(texts):
    return [{"user": f"user {number}", "text": text} for number, text in enumerate(texts)]


def test_secrets_of_a_file_are_asked_for_and_the_run_is_listed_written_shared_and_deleted(home, tmp_path):
    asked = rows_of(tmp_path / "ask.jsonl", [{"prompt": "The night nurse", "secret": "12"}])
    said = attack("secrets", "notes", "--ask", asked, "--target", "whole", "--target", "strict")
    assert "With no protection the attacker reads" in said
    assert "Under Strict at epsilon 2" in said
    (run,) = list_runs(home)
    assert f"{run.id}  {run.created}  secrets on notes, finished" in attack("runs")
    page = tmp_path / "report.html"
    attack("report", run.id, "--output", page)
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(attack("report", run.id, "--format", "json"))["id"] == run.id
    address = attack("link", run.id).strip()
    assert address in attack("link")
    attack("link", "--revoke", address)
    assert attack("link") == ""
    attack("delete", run.id)
    assert "No attack has been run here" in attack("runs")


def test_the_two_sides_of_membership_are_two_corpora(home, tmp_path):
    sides = [rows_of(tmp_path / f"{seed}.jsonl", users(notes(12, seed=seed))) for seed in (1, 2)]
    said = attack("membership", "notes", "--members", sides[0], "--others", sides[1], "--texts", 10)
    assert "is chance" in said
    with pytest.raises(InputError, match="Name two corpora"):
        attack("membership", "notes", "--members", sides[0])


def test_the_games_need_no_model(home):
    assert "No world refutes" in attack("audit", "strict", "--games", 40)
    assert "On Strict" in attack("stop", "--games", 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("secrets", "notes"), "Only the demonstration's secrets are known"),
        (("canaries", "--template", "My ID is 5."), "needs a hole"),
        (("canaries", "--template", "My ID is {digits:13}."), "too many to rank"),
        (("canaries", "--target", "nonsense"), "A target is one of"),
        (("codes", "--protocol", "whole"), "no target 'whole'"),
        (("audit", "nonsense"), "plays on"),
        (("report", "x"), "not the name of a run"),
        (("delete", "x" * 22), "no run of this name"),
    ],
)
def test_each_mistake_is_a_sentence_before_anything_runs(home, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        attack(*arguments)
    assert list_runs(home) == ()


def test_a_corpus_smaller_than_its_parts_is_refused(home, tmp_path):
    small = rows_of(tmp_path / "small.jsonl", users(notes(3, seed=1)))
    with pytest.raises(InputError, match="nobody in it"):
        attack("canaries", small, "--parts", 8, "--copies", 1)


def test_an_interrupt_ends_an_attack_and_keeps_what_it_had(home):
    command = [sys.executable, "-m", "core", "attack", "audit", "strict", "pmixed", "--games", "200000"]
    running = subprocess.Popen(
        command, env=os.environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stderr is not None
    assert "seconds" in running.stderr.readline()  # it says how long it takes and begins
    while not (home.data_dir / "attacks" / ".running.lock").exists():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 0
    assert "was cancelled" in said
    assert [run.status for run in list_runs(home)] == ["cancelled"]
