"""Files: the text is sanitised, all else is as it was, nothing is dropped, and no half output is left."""

import csv
import io
import json
import random
import zipfile

import numpy as np
import pytest

from core.errors import InputError
from core.sanitize import AllWords, Cancelled, Digits, OwnWords, make_mechanism, sanitize_file
from core.sanitize.patterns import Patterns
from tests.core.sanitize.worlds import small_vocabulary

MECHANISM = make_mechanism("euclidean", small_vocabulary(), 2.0)
NOTHING = OwnWords(words=("zzzz",))


def run(path, policy=None, *, name=None, **options):
    output = path.with_name(name or f"out{path.suffix}")
    options.setdefault("rng", np.random.default_rng(0))
    report = sanitize_file(path, output, MECHANISM, policy or Digits(), **options)
    assert sorted(entry.name for entry in path.parent.iterdir()) == sorted({path.name, output.name})
    return report, output.read_bytes()


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks and batches so small that a short file has many."""
    monkeypatch.setattr("core.sanitize.items.BLOCK", 4096)
    monkeypatch.setattr("core.sanitize.writing._BATCH_CHARS", 8192)


def test_text_comes_back_byte_for_byte_where_nothing_is_sensitive(tmp_path):
    content = "Zoë\r\n\r\nline\rtwo\u2028three 🙂\n\n  end\t" * 20_000
    report, result = run(write(tmp_path, "a.txt", content), NOTHING)
    assert result == content.encode()
    assert (report.perturbed, report.words) == (0, 100_000)


def test_every_number_of_a_long_text_is_perturbed_and_counted(tmp_path):
    content = "".join(f"Patient {at + 10_000_000} slept well.\n" for at in range(20_000))
    report, result = run(write(tmp_path, "a.txt", content))
    lines = result.decode().splitlines()
    assert len(lines) == 20_000
    assert all(line.startswith("Patient ") and line.endswith(" slept well.") for line in lines)
    assert not any(line.split()[1] == str(at + 10_000_000) for at, line in enumerate(lines))
    assert (report.words, report.perturbed, report.out_of_vocabulary) == (80_000, 20_000, 20_000)
    assert report.draws == 20_000


@pytest.mark.usefixtures("small_blocks")
def test_what_straddles_two_blocks_is_still_recognised(tmp_path):
    card = "4111 1111 1111 1111"
    rng = random.Random(1)
    content = "".join(
        "w" * rng.randint(1, 9) + " " + (card + " ") * (rng.random() < 0.2) for _ in range(2_500)
    )
    assert len(content) > 20_000
    report, result = run(write(tmp_path, "a.txt", content), Patterns())
    assert b"1111" not in result
    assert report.perturbed == content.count(card)


def test_csv_changes_one_column_and_no_other_character(tmp_path):
    content = (
        "id;note ;other\r\n"
        '1;"tea 998877, ""soup"" ; 2010";"a ""b"""\r\n'
        "\r\n"
        '2;plain 554433;" x"\r\n'
        '3;"line 1\r\nline 665544";5" pipe\r\n'
        "4;;''\r\n"
        "5;no number;998877"
    )
    report, result = run(write(tmp_path, "a.csv", content), column="NOTE")
    rows = list(csv.reader(io.StringIO(result.decode(), newline=""), delimiter=";"))
    source = list(csv.reader(io.StringIO(content, newline=""), delimiter=";"))
    assert [[row[0], row[2]] for row in rows if row] == [[row[0], row[2]] for row in source if row]
    for number in ("998877,", "554433", "665544"):
        assert number not in result.decode()
    assert result.decode().endswith("4;;''\r\n5;no number;998877")
    assert 'a ""b""' in result.decode()
    assert (report.failed, report.rows) == (0, 5)
    assert "column 'note'" in report.notes[0]


def test_csv_without_anything_sensitive_is_byte_for_byte(tmp_path):
    content = '\n\nuser,text\n1,"a ""b"", c"\n2,it\'s 5 o\'clock\n3,\n\n'
    assert run(write(tmp_path, "a.csv", content), NOTHING)[1] == content.encode()


def test_a_ragged_or_broken_csv_row_is_reported_and_neither_dropped_nor_passed_through(tmp_path):
    content = 'id,text\n1,fine 998877\n2,rag, ged secret\n3\n4,"x"y\n5,good\n6,"open\n7,good\n'
    report, result = run(write(tmp_path, "a.csv", content))
    rows = list(csv.reader(io.StringIO(result.decode())))
    assert len(rows) == 8
    assert [row[1].startswith("[row") for row in rows] == [False, False, True, True, True, False, True, False]
    assert b"secret" not in result
    assert b"open" not in result
    assert [failure.place for failure in report.failures] == ["row 3", "row 4", "row 5", "row 7"]
    assert (report.failed, report.rows) == (4, 7)
    assert "3 fields and the header 2" in report.failures[0].reason
    assert "behind a closing" in report.failures[2].reason
    assert "not closed" in report.failures[3].reason


def test_jsonl_changes_one_field_and_no_other_character(tmp_path):
    content = (
        '{"id": 1.50,  "text" : "tea 998877 \\u00e9", "nested": {"text": "554433"}}\n'
        '  {"text":"soup 665544","n":1e5}  \r\n'
        "\n"
        '{"text": null}\n{"text": ""}\n'
        '{"a":[1,{"text":2}],"text":"\\ud83d\\ude42 \\ud800 776655 café"}'
    )
    report, result = run(write(tmp_path, "a.jsonl", content), column="text")
    lines, source = result.decode().split("\n"), content.split("\n")
    assert lines[0].startswith('{"id": 1.50,  "text" : "tea ')
    assert lines[0].endswith('"nested": {"text": "554433"}}')
    assert lines[1].startswith('  {"text":"soup ')
    assert lines[1].endswith(',"n":1e5}  \r')
    assert lines[2:5] == source[2:5]
    assert json.loads(lines[5])["text"].startswith("🙂 \ud800 ")
    assert not any(number in result.decode() for number in ("998877", "665544", "776655"))
    assert (report.failed, report.perturbed) == (0, 3)


def test_jsonl_rows_that_hold_no_text_are_reported(tmp_path):
    lines = [
        '{"text":"ok"}',
        '{"text":998877}',
        "nonsense 998877",
        "[1]",
        '{"x":"998877"}',
        '{"text":"a","text":"b"}',
    ]
    report, result = run(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert b"998877" not in result
    written = [json.loads(line) for line in result.decode().splitlines()]
    assert written[0] == {"text": "ok"}
    assert all(row["text"] is None and "not_sanitised" in row for row in written[1:])
    reasons = [failure.reason for failure in report.failures]
    assert [reason.split("'")[0].strip() for reason in reasons] == [
        "its field",
        "it is not JSON",
        "it is not a JSON object",
        "it has no field",
        "it has more than one field",
    ]


def test_a_zip_comes_back_with_its_text_sanitised_and_the_rest_named(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ward/ann.txt", "Zoë slept 998877\n")
        archive.writestr(
            "old.txt", "caf\xe9 na\xefve cr\xe8me br\xfbl\xe9e d\xe9j\xe0 vu 998877".encode("cp1252")
        )
        archive.writestr("photo.jpg", b"\xff\xd8\xff998877")
        archive.writestr("binary.txt", b"\0\0998877")
    report, _ = run(path)
    with zipfile.ZipFile(tmp_path / "out.zip") as result:
        texts = {name: result.read(name).decode() for name in result.namelist()}
    assert list(texts) == [
        "ward/ann.txt",
        "old.txt",
        "photo.jpg.not-sanitised.txt",
        "binary.txt.not-sanitised.txt",
    ]
    assert not any("998877" in text for text in texts.values())
    assert texts["ward/ann.txt"].startswith("Zoë slept ")
    assert texts["old.txt"].startswith("café naïve")
    assert report.failed == 2
    assert any("CP1252" in note for note in report.notes)


@pytest.mark.usefixtures("small_blocks")
def test_consistent_mode_holds_over_the_blocks_of_a_text_and_ends_with_a_row(tmp_path):
    text = write(tmp_path, "a.txt", "id 998877 \n" * 5_000)
    report, result = run(text, consistent=True)
    assert len(set(result.decode().split()) - {"id"}) == 1
    assert report.draws == 1
    folder = tmp_path / "rows"
    folder.mkdir()
    rows = write(folder, "a.csv", "n,text\n" + "1,see 998877 and 998877\n" * 200)
    report, result = run(rows, consistent=True, column="text")
    pairs = [line.split(",see ")[1].split(" and ") for line in result.decode().splitlines()[1:]]
    assert all(first == second for first, second in pairs)
    assert len({first for first, _ in pairs}) > 5
    assert report.draws == 200


@pytest.mark.usefixtures("small_blocks")
def test_progress_reaches_the_end_and_says_how_long(tmp_path):
    seen = []
    path = write(tmp_path, "a.txt", "word 12 \n" * 8_000)
    run(path, progress=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1].share == 1.0
    assert seen[-1].words == 16_000
    assert all(step.seconds_left >= 0 for step in seen)
    assert len(seen) > 3


def test_a_batch_with_many_draws_says_how_far_it_is_and_stops_in_between(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("queen king woman\n" * 3_000)
    seen = []
    sanitize_file(path, tmp_path / "out.txt", MECHANISM, AllWords(), progress=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert len({step.done for step in seen}) > 3  # one batch of characters, several of draws
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        sanitize_file(path, tmp_path / "none.txt", MECHANISM, AllWords(), cancelled=lambda: next(answers))
    assert not (tmp_path / "none.txt").exists()


@pytest.mark.usefixtures("small_blocks")
def test_cancelling_leaves_nothing(tmp_path):
    path = write(tmp_path, "a.txt", "word 12 \n" * 8_000)
    answers = iter([False, True])
    with pytest.raises(Cancelled, match="No output was written"):
        sanitize_file(path, tmp_path / "out.txt", MECHANISM, Digits(), cancelled=lambda: next(answers))
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


class Breaks:
    """A policy that fails on the second text."""

    name = "breaks"

    def __init__(self, error):
        self.calls, self.error = 0, error

    def spans(self, text):
        self.calls += 1
        if self.calls == 2:
            raise self.error
        return []


def test_an_error_in_the_middle_leaves_an_old_output_as_it_was(tmp_path):
    path = write(tmp_path, "a.csv", "n,text\n1,a\n2,b\n3,c\n")
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(RuntimeError):
        sanitize_file(path, tmp_path / "out.csv", MECHANISM, Breaks(RuntimeError("no")), column="text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


def test_a_row_on_which_the_policy_fails_is_reported_and_the_others_go_on(tmp_path):
    path = write(tmp_path, "a.csv", "n,text\n1,a\n2,secret\n3,c\n")
    report, result = run(path, Breaks(InputError("It takes too long.")), column="text")
    assert result.decode().splitlines() == [
        "n,text",
        "1,a",
        ',"[row 3 was not sanitised: It takes too long]"',
        "3,c",
    ]
    assert report.failed == 1


def test_encodings_are_kept_or_said(tmp_path):
    plain = "Zoë 998877 naïve café déjà vu, crème brûlée"
    for name, codec, note, out in (
        ("a.txt", "utf-8", "", "utf-8"),
        ("b.txt", "utf-8-sig", "", "utf-8-sig"),
        ("c.txt", "utf-16", "UTF-16", "utf-8"),
        ("d.txt", "cp1252", "guessed to be CP1252", "utf-8"),
    ):
        folder = tmp_path / codec
        folder.mkdir()
        report, result = run(write(folder, name, plain.encode(codec)))
        assert result.startswith("Zoë ".encode(out))
        assert result.decode(out).endswith("crème brûlée")
        assert note in " ".join(report.notes)
        assert bool(report.notes) == bool(note)


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("a.txt", b"", {}, "is empty"),
        ("a.txt", b"\x00\x01\x02binary", {}, "NUL"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(50), {}, "a picture"),
        ("a.txt", b"\x80\x04\x95cpickle", {}, "pickle"),
        ("a.pdf", b"text", {}, "is not read"),
        ("a.zip", b"not a zip", {}, "ending for what it is"),
        ("a.zip", b"PK\x03\x04" + bytes(40), {}, "damaged"),
        ("a.txt", b"text", {"column": "x"}, "has no columns"),
        ("a.csv", b"\n \n", {}, "has no rows"),
        ("a.csv", b"a,b\n1,2\n", {"column": "c"}, "no column called 'c'"),
        ("a.csv", b"a,a\n1,2\n", {"column": "a"}, "more than one column"),
        ("a.csv", b'a,"b\n1,2\n', {"column": "a"}, "not CSV"),
        ("a.csv", b"a,b\n1,2\n", {}, "looks like text"),
        ("a.jsonl", b"[\n1\n]\n", {}, "one object on each line"),
        ("a.jsonl", b'{"a": 1}\n', {"column": "text"}, "no column called 'text'"),
        ("a.txt", b"twelve bytes", {"largest": 5}, "at most"),
    ],
)
def test_a_file_that_cannot_be_sanitised_is_a_sentence_and_leaves_nothing(
    tmp_path, name, content, options, sentence
):
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=sentence):
        sanitize_file(path, tmp_path / "out", MECHANISM, AllWords(), **options)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_places_that_cannot_be_written_are_a_sentence(tmp_path):
    path = write(tmp_path, "a.txt", "tea")
    for output, sentence in (
        (path, "overwrite the input"),
        (tmp_path / "no" / "out.txt", "folder that exists"),
        (tmp_path, "folder that exists"),
    ):
        with pytest.raises(InputError, match=sentence):
            sanitize_file(path, output, MECHANISM, AllWords())
    with pytest.raises(InputError, match="cannot be found"):
        sanitize_file(tmp_path / "b.txt", tmp_path / "out.txt", MECHANISM, AllWords())
    assert path.read_text() == "tea"


def test_one_word_of_ten_megabytes_between_others_is_replaced(tmp_path):
    path = write(tmp_path, "a.txt", "before 7" + "x9" * 5_000_000 + " after\n")
    report, result = run(path)
    assert result.startswith(b"before ")
    assert result.endswith(b" after\n")
    assert len(result) < 100
    assert report.out_of_vocabulary == 1


def test_a_run_of_more_than_a_text_can_have_is_refused(tmp_path):
    path = write(tmp_path, "a.txt", "x" * 17_000_000)
    with pytest.raises(InputError, match="without a space"):
        sanitize_file(path, tmp_path / "out.txt", MECHANISM, Digits())
