import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.commands.ledger import app as ledger
from core.commands.log import app as log
from core.errors import InputError
from core.settings import Settings
from core.store import open_store
from tests.core.store.budgets import open_ward

run = CliRunner().invoke


@pytest.fixture
def home(sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A store with a budget and an event, found through the environment."""
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(sqlite_settings.data_dir))
    monkeypatch.setenv("SUBMIX_DATABASE_URL", "")
    with open_store(sqlite_settings) as store:
        open_ward(store)
        store.ledger.debit("ward", [0.5, 0.25, 0.0])
        store.log.record(session="s", panel="Predict", action="=generate", cost=0.5, duration_ms=10)
    return sqlite_settings


def cut_tail(settings: Settings) -> None:
    old = settings.data_dir / "old"
    old.mkdir()
    shutil.copy(settings.data_dir / "studio.db", old)
    with open_store(settings) as store:
        store.ledger.debit("ward", [0.5, 0.25, 0.0])
    shutil.copy(old / "studio.db", settings.data_dir)


def test_verify_says_that_a_whole_ledger_holds(home: Settings):
    result = run(ledger, ["verify"])
    assert result.exit_code == 0
    assert "holds: 3 entries, 1 budgets" in result.output


def test_verify_ends_with_an_error_on_a_break_and_adopt_accepts_it(home: Settings):
    cut_tail(home)
    result = run(ledger, ["verify"])
    assert result.exit_code == 1
    assert "entry 4 was released" in result.output
    assert run(ledger, ["adopt"], input="n\n").exit_code == 1
    assert run(ledger, ["verify"]).exit_code == 1
    adopted = run(ledger, ["adopt", "--yes"])
    assert adopted.exit_code == 0
    assert "entry 4 was released" in adopted.output
    assert run(ledger, ["verify"]).exit_code == 0
    assert "Nothing to adopt" in run(ledger, ["adopt", "--yes"]).output
    with open_store(home) as store:
        assert store.ledger.entries()[0].kind == "adopt"
        store.ledger.debit("ward", [0.1] * 3)


def test_show_tells_what_is_left(home: Settings):
    result = run(ledger, ["show"])
    assert "ward (private, StrictSubMix): open" in result.output
    assert "1 of 1,000 queries, weakest part 1 has 1.500000 left" in result.output


def test_show_of_an_empty_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(tmp_path / "empty"))
    assert "No budget" in run(ledger, ["show"]).output
    assert "no such events" in run(log, ["show"]).output


def test_the_log_is_shown_exported_and_purged(home: Settings, tmp_path: Path):
    assert "s Predict: =generate, ok, 10 ms, cost 0.500000" in run(log, ["show"]).output
    assert ",'=generate," in run(log, ["export"]).output
    target = tmp_path / "log.jsonl"
    assert run(log, ["export", "--format", "jsonl", "--output", str(target)]).exit_code == 0
    assert json.loads(target.read_text())["action"] == "=generate"
    assert "Deleted 0 events older than 30 days" in run(log, ["purge"]).output
    assert "Deleted 1 events" in run(log, ["purge", "--days", "0"]).output
    assert run(ledger, ["verify"]).exit_code == 0


def test_an_export_that_cannot_be_written_is_a_sentence(home: Settings, tmp_path: Path):
    result = run(log, ["export", "--output", str(tmp_path / "none" / "log.csv")])
    assert isinstance(result.exception, InputError)
