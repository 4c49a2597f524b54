"""Good uploads of every format, as real files."""

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.corpus import NO_USER, Corpus, Limits, read_corpus
from core.errors import InputError


def _users(corpus: Corpus) -> dict[str, list[str]]:
    return {user: [document.text for document in documents] for user, documents in corpus.by_user.items()}


def _zip(path: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_csv_columns_are_found_and_said(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text(
        'Row,Patient ID,Note\n1,ann,"Slept well, ate"\n2,bo,Walked far today\n3,ann,Went home again\n'
    )
    corpus = read_corpus(path)
    assert _users(corpus) == {"ann": ["Slept well, ate", "Went home again"], "bo": ["Walked far today"]}
    assert corpus.name == "notes"
    assert not corpus.synthetic
    assert "'Note'" in corpus.notes[0]
    assert "'Patient ID'" in corpus.notes[0]
    assert [(d.source, d.row) for d in corpus.documents] == [
        ("notes.csv", 2),
        ("notes.csv", 3),
        ("notes.csv", 4),
    ]


def test_named_columns_win_over_found_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,text,editor,remark\nann,first text,zoe,second text\n")
    corpus = read_corpus(path, user_column="EDITOR", text_column="remark")
    assert _users(corpus) == {"zoe": ["second text"]}
    assert corpus.notes[0].count("named") == 2


def test_a_column_that_is_not_there_is_an_error_that_lists_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,text\nann,some text\n")
    with pytest.raises(InputError, match=r"no column called 'nobody'; its columns are 'user', 'text'\."):
        read_corpus(path, user_column="nobody")
    with pytest.raises(InputError, match="both"):
        read_corpus(path, user_column="text", text_column="text")


def test_a_user_column_is_never_guessed_from_content(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("topic,text\nred,first words\nblue,second words\n")
    corpus = read_corpus(path)
    assert corpus.users == (NO_USER,)
    assert any("all rows are one user" in note for note in corpus.notes)


def test_text_is_found_by_content_where_no_name_tells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "user,flag,zzz\nann,yes,a rather long remark about the day\nbo,no,another long remark of mine\n"
    )
    assert "'zzz'" in read_corpus(path).notes[0]


def test_ragged_and_broken_rows_are_dropped_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'user,text\nann,good words\nbo\ncy,too,many\ndi,"quoted" badly\ned,   \nfy,fine words\ngi,"open\n'
    )
    corpus = read_corpus(path)
    assert _users(corpus) == {"ann": ["good words"], "fy": ["fine words"]}
    dropped = {entry.reason: entry.places for entry in corpus.dropped}
    assert dropped["not 2 fields as the header has"] == ("row 3", "row 4")
    assert dropped["not CSV: a stray quotation mark"] == ("row 5",)
    assert dropped["no text"] == ("row 6",)
    assert dropped["a quotation mark is not closed"] == ("row 8",)


def test_a_long_quoted_field_with_line_breaks_is_one_document(tmp_path: Path) -> None:
    text = "a line, with comma\r\n" * 20_000
    path = tmp_path / "a.csv"
    path.write_bytes(f'user,text\r\nann,"{text}"\r\n'.encode())
    (document,) = read_corpus(path).documents
    assert document.text == text.replace("\r\n", "\n").strip()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(f"user{delimiter}text\nann{delimiter}good words\n")
    assert _users(read_corpus(path)) == {"ann": ["good words"]}


def test_rows_without_a_user_id_are_one_user(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows: list[object] = [None, "", "  ", "NaN", "null", ["a"], 7, 7.0, " 7 "]
    path.write_text("\n".join(json.dumps({"user": user, "text": f"note {i}"}) for i, user in enumerate(rows)))
    corpus = read_corpus(path)
    assert {user: len(texts) for user, texts in _users(corpus).items()} == {NO_USER: 6, "7": 3}
    assert any("without a user id" in note for note in corpus.notes)


def test_jsonl_drops_what_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"author":"ann","body":"good words"}\n[1]\n{bad\n{"author":"bo","body":5}\n{"author":"cy"}\n'
    )
    corpus = read_corpus(path)
    assert _users(corpus) == {"ann": ["good words"]}
    assert {entry.reason: entry.places for entry in corpus.dropped} == {
        "not a JSON object": ("row 2",),
        "not JSON": ("row 3",),
        "the text is not a string": ("row 4",),
        "no text": ("row 5",),
    }


def test_parquet_of_strings_numbers_and_categories(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = pa.array(["good words", "more words", None, "nul \0 here"]).dictionary_encode()
    table = pa.table({"user_id": pa.array([1.0, None, 2.0, 2.0]), "text": texts, "other": [[1]] * 4})
    pq.write_table(table, path)
    corpus = read_corpus(path)
    assert _users(corpus) == {"1": ["good words"], NO_USER: ["more words"]}
    assert {entry.reason: entry.places for entry in corpus.dropped} == {
        "no text": ("row 3",),
        "NUL characters": ("row 4",),
    }


def test_parquet_keeps_its_order_over_many_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "misnamed.csv"
    table = pa.table({"user": [f"u{n % 7}" for n in range(5000)], "text": [f"note {n}" for n in range(5000)]})
    pq.write_table(table, path, row_group_size=900)
    corpus = read_corpus(path)
    assert [document.text for document in corpus.documents] == [f"note {n}" for n in range(5000)]
    assert len(corpus.users) == 7


def test_zip_users_are_folders_below_the_common_one(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "export/ann/1.txt": "first",
        "export/ann/2.md": "second",
        "export/bo.txt": "third",
        "export/pic.png": b"\x89PNG",
        "__MACOSX/export/._bo.txt": b"\0\0",
        "export/nul.txt": b"a\0b",
    }
    corpus = read_corpus(_zip(tmp_path / "a.zip", members))
    assert _users(corpus) == {"ann": ["first", "second"], "bo": ["third"]}
    assert {entry.reason for entry in corpus.dropped} == {
        "not a text file by its name",
        "hidden files",
        "NUL bytes",
    }
    assert any("folders" in note for note in corpus.notes)


def test_zip_of_loose_files_has_one_user_a_file(tmp_path: Path) -> None:
    corpus = read_corpus(_zip(tmp_path / "a.zip", {"notes/ann.txt": "x", "notes/bo.txt": "y"}))
    assert corpus.users == ("ann", "bo")


def test_nothing_of_a_zip_touches_the_disk(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", {"ann/1.txt": "first"})
    read_corpus(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_file_is_one_user_unless_declared_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\nstill one\n\n \n\ntwo\n")
    corpus = read_corpus(path)
    assert _users(corpus) == {NO_USER: ["one\nstill one", "two"]}
    declared = read_corpus(path, users="document")
    assert len(declared.users) == 2
    assert any("as declared" in note for note in declared.notes)
    with pytest.raises(InputError, match="no columns"):
        read_corpus(path, user_column="user")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("user,text\nzoë,Straße nach Łódź\n".encode(encoding))
    assert _users(read_corpus(path)) == {"zoë": ["Straße nach Łódź"]}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Le garçon a mangé des crêpes à la fête, où il a été très heureux près de la forêt."),
        ("cp1252", "Der Bär läuft über die Straße und grüßt die schöne Müllerin."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Dnes večer půjdeme domů."),
        ("cp1251", "Сегодня вечером мы пойдём домой и будем читать книгу."),
        ("shift_jis", "今日は病院に行きました。先生はとても親切でした。"),
    ],
)
def test_other_encodings_are_guessed_and_said(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((text + "\n\n").encode(encoding) * 50)
    corpus = read_corpus(path)
    assert {document.text for document in corpus.documents} == {text}
    assert any("guessed" in note for note in corpus.notes)


def test_files_of_a_zip_share_one_guess(tmp_path: Path) -> None:
    text = "Le garçon a mangé des crêpes à la fête, où il a été très heureux près de la forêt. "
    members: dict[str, str | bytes] = {f"u{n}.txt": (text * 9).encode("cp1252") for n in range(300)}
    corpus = read_corpus(_zip(tmp_path / "a.zip", members))
    assert len(corpus.users) == 300
    assert sum("guessed" in note for note in corpus.notes) == 1


def test_limits_can_be_set_and_user_ids_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,text\n" + "u" * 300 + ",long id\nann,good words\n")
    corpus = read_corpus(path)
    assert corpus.users == ("ann",)
    with pytest.raises(InputError, match="at most 0 MB"):
        read_corpus(path, limits=Limits(file_bytes=10))


def test_a_file_name_cannot_break_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / ("a\n<b>\x1b[31m" + "x" * 150 + ".csv")
    path.write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read_corpus(path)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 120


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be found"):
        read_corpus(tmp_path / "none.csv")
