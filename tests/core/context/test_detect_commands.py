"""`python -m core detect` and `detector`."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.errors import InputError

TEXT = "It rains on the coast.\r\nMy bank security code is 450. 🙂 naïve café.\n=1+1 is two."


@pytest.fixture(autouse=True)
def home(settings, monkeypatch):
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(settings.data_dir))


def run(*arguments: str):
    result = CliRunner().invoke(app, [*arguments])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def test_detect_writes_one_object_a_sentence_with_exact_offsets(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(TEXT.encode())
    result = run("detect", str(path), "--format", "jsonl")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(each) for each in found] == [["text", "start", "end", "score", "flagged"]] * len(found)
    assert all(TEXT[each["start"] : each["end"]] == each["text"] for each in found)
    assert [each["text"] for each in found if each["flagged"]] == ["My bank security code is 450."]
    assert "1 of 4 sentences flagged" in result.stderr


def test_detect_writes_csv_that_no_spreadsheet_runs(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(TEXT.encode("utf-16"))
    rows = list(csv.DictReader(io.StringIO(run("detect", str(path), "--format", "csv").stdout, newline="")))
    assert rows[1]["text"] == "My bank security code is 450."
    assert rows[1]["flagged"] == "True"
    assert rows[-1]["text"] == "'=1+1 is two."


def test_detect_can_show_only_what_is_flagged_at_another_threshold(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("It rains. The PIN is 4417.")
    assert run("detect", str(path), "--threshold", "1", "--flagged").stdout == ""
    assert len(run("detect", str(path), "--threshold", "0", "--flagged").stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "said"), [(b"%PDF-1.4", "PDF"), (b"\x80\x04\x95abc", "pickle"), (b"a\0b", "NUL")]
)
def test_what_is_no_text_is_refused(tmp_path, content, said):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match=said):
        run("detect", str(tmp_path / "x"))


def test_an_unknown_format_and_a_missing_file_are_sentences(tmp_path):
    with pytest.raises(InputError, match="jsonl or csv"):
        run("detect", str(tmp_path / "x"), "--format", "xml")
    with pytest.raises(InputError, match="cannot be read"):
        run("detect", str(tmp_path / "none"))


def test_evaluate_prints_the_card():
    said = run("detector", "evaluate", "--no-write").stdout
    assert "gamma_L" in said
    assert "paper: the bank security code and its variants" in said


def test_evaluate_reads_families_of_another_folder_and_writes_nothing(tmp_path):
    from core.context.saved import CARD

    for kind, line in (("sensitive", "My PIN is {d4}."), ("harmless", "It rains today.")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "own.txt").write_text(f"## {kind} of mine\n{line}\n")
    before = CARD.read_bytes()
    said = run("detector", "evaluate", "--families", str(tmp_path)).stdout
    assert "1 of   1 flagged  sensitive of mine" in said
    assert "0 of   1 flagged  harmless of mine" in said
    assert CARD.read_bytes() == before


def test_teach_saves_under_a_name_and_says_what_it_cost(tmp_path):
    (tmp_path / "mine.txt").write_text("The heron nests by the third weir.\n\n")
    said = run(
        "detector", "teach", "mine", "--sensitive-file", str(tmp_path / "mine.txt"), "--harmless", "Tea."
    ).stdout
    assert "recall" in said
    assert "Not learned" not in said
    assert run("detector", "list").stdout.split() == ["shipped", "mine"]
    (tmp_path / "t.txt").write_text("The heron nests by the third weir.")
    assert json.loads(run("detect", str(tmp_path / "t.txt"), "--detector", "mine").stdout)["flagged"]


def test_a_transformer_needs_a_name():
    with pytest.raises(InputError, match="--name"):
        run("detector", "train", "--model", "distilbert-base-uncased")
