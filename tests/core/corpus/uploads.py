"""Bad uploads: each entry writes one hostile or broken file and says which word its refusal must hold."""

import io
import json
import pickle
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class BadUpload:
    label: str
    name: str
    write: Callable[[Path], object]
    says: str


def _bytes(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def _sparse(size: int) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return write


def _zip(members: dict[str, bytes], *, attributes: int | None = None, kind: int = zipfile.ZIP_DEFLATED):
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, data in members.items():
                info = zipfile.ZipInfo(name)
                info.compress_type = kind
                if attributes is not None:
                    info.external_attr = attributes << 16
                archive.writestr(info, data)

    return write


def _many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(21_000):
            archive.writestr(f"{number}.txt", b"x")


def _lying_zip(path: Path) -> None:
    """A member that declares 100 bytes and inflates to 50 MB."""
    _zip({"a.txt": b"a" * (50 * MEGABYTE)})(path)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature)
        data[at + offset : at + offset + 4] = struct.pack("<I", 100)
    path.write_bytes(bytes(data))


def _fake_directory(path: Path) -> None:
    """An end record that claims a table of contents of 60 MB."""
    _zip({"a.txt": b"hello"})(path)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<I", 60 * MEGABYTE)
    path.write_bytes(bytes(data))


def _spread_bomb(path: Path) -> None:
    """Many members below the inflation limit each, more than 128 MB together."""
    block = random.Random(1).randbytes(30_000) * 70
    _zip({f"{number}.txt": block for number in range(66)})(path)


def _wide_parquet(path: Path) -> None:
    pq.write_table(pa.table({f"c{number}": ["a b"] for number in range(3_000)}), path)


def _parquet_bomb(path: Path, *, store_schema: bool = True) -> None:
    """A dictionary of one long string that 300 rows point to: 300 MB of text in a small file.

    It is no larger, so that a reader without its guards fails this test and not the machine.
    """
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array(["ab " * 350_000]))
    pq.write_table(pa.table({"text": column}), path, store_schema=store_schema)


def _parquet_bomb_plain(path: Path) -> None:
    """The same, with a schema that calls the column plain strings."""
    _parquet_bomb(path, store_schema=False)


def _parquet_zeros(path: Path) -> None:
    table = pa.table({"text": pa.array(["a " * MEGABYTE] * 65)})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)


_DEEP = b'{"user": 1, "text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
_PICKLE = pickle.dumps({"user": "a", "text": "b" * 100})
_INNER = io.BytesIO()
with zipfile.ZipFile(_INNER, "w") as _archive:
    _archive.writestr("a.txt", "hello")

BAD_UPLOADS = (
    BadUpload("0 bytes", "a.csv", _bytes(b""), "is empty"),
    BadUpload("only spaces", "a.txt", _bytes(b" \n \n"), "no documents"),
    BadUpload("1 GB", "a.csv", _sparse(1024 * MEGABYTE), "at most 64 MB"),
    BadUpload("a folder", "folder.txt", lambda path: path.mkdir(), "not a file"),
    BadUpload("unknown ending", "a.docm", _bytes(b"hello there"), ".docm"),
    BadUpload("NUL in text", "a.txt", _bytes(b"hello\0there"), "NUL"),
    BadUpload("NUL late in CSV", "a.csv", _bytes(b"user,text\n" + b"a,hello you\n" * 300_000 + b"\0"), "NUL"),
    BadUpload("64 MB of NUL", "a.txt", _sparse(64 * MEGABYTE), "NUL"),
    BadUpload(
        "random bytes", "a.txt", lambda p: p.write_bytes(random.Random(2).randbytes(MEGABYTE)), "a.txt"
    ),
    BadUpload("control characters", "a.txt", _bytes(bytes(range(1, 32)) * 3000 + b"\xff"), "encoding"),
    BadUpload("UTF-16 cut short", "a.txt", _bytes("hello".encode("utf-16")[:-1]), "UTF-16"),
    BadUpload("UTF-16 without mark", "a.txt", _bytes("hello".encode("utf-16-le")), "NUL"),
    BadUpload("UTF-8 mark, then not", "a.txt", _bytes(b"\xef\xbb\xbfhi \xff\xfe"), "UTF-8"),
    BadUpload("pickle as CSV", "a.csv", _bytes(_PICKLE), "pickle"),
    BadUpload("pickle as text", "a.txt", _bytes(_PICKLE), "pickle"),
    BadUpload("old pickle as text", "a.txt", _bytes(pickle.dumps([1, "a"], protocol=0)), "pickle"),
    BadUpload("pickle that runs", "a.jsonl", _bytes(b"cos\nsystem\n(S'true'\ntR."), "pickle"),
    BadUpload("pickle as Parquet", "a.parquet", _bytes(_PICKLE), "pickle"),
    BadUpload("gzip as CSV", "a.csv", _bytes(b"\x1f\x8b\x08\0\0\0\0\0"), "gzip"),
    BadUpload("PNG as text", "a.txt", _bytes(b"\x89PNG\r\n\x1a\n" + bytes(100)), "picture"),
    BadUpload("PDF as text", "a.txt", _bytes(b"%PDF-1.7\nhello"), "PDF"),
    BadUpload("SQLite", "a.csv", _bytes(b"SQLite format 3\0" + bytes(100)), "SQLite"),
    BadUpload("million columns", "a.csv", _bytes(b",".join(b"c%d" % n for n in range(10**6))), "columns"),
    BadUpload("million columns, quoted", "a.csv", _bytes(b'"user","text",' + b'"c",' * 10**6), "columns"),
    BadUpload(
        "60 MB of commas in a row", "a.csv", _bytes(b"user,text\n" + b"," * (60 * MEGABYTE)), "line of more"
    ),
    BadUpload("3 million fields", "a.csv", _bytes(b"user,text\n" + b"," * 3_000_000), "fields"),
    BadUpload("fields over quoted lines", "a.csv", _bytes(b'user,text\n"a' + b'\n","' * 2_000_000), "fields"),
    BadUpload("60 million blank lines", "a.csv", _bytes(b"user,text\n" + b"\n" * (60 * MEGABYTE)), "lines"),
    BadUpload("60 million blank text lines", "a.txt", _bytes(b"\n" * (60 * MEGABYTE)), "lines"),
    BadUpload("one line of 60 MB", "a.jsonl", _bytes(b'{"text": "' + b"a" * (60 * MEGABYTE)), "line of more"),
    BadUpload("too many rows in CSV", "a.csv", _bytes(b"user,text\n" + b"1,a\n" * 260_000), "documents"),
    BadUpload("too many rows", "a.jsonl", _bytes(b'{"user":1,"text":"a"}\n' * 260_000), "documents"),
    BadUpload("every row ragged", "a.csv", _bytes(b"user,text\n" + b"a,b,c\n" * 1000), "2 fields"),
    BadUpload("no header", "a.csv", _bytes(b"12,a note of mine here\n13,and one more note\n"), "header"),
    BadUpload("header twice", "a.csv", _bytes(b"text,text\na note,a note\n"), "two columns"),
    BadUpload("no text column", "a.csv", _bytes(b"user,count\na,1\nb,2\n"), "looks like text"),
    BadUpload("deep JSON", "a.jsonl", _bytes(_DEEP), "nested"),
    BadUpload("huge number", "a.jsonl", _bytes(b'{"text": ' + b"9" * 100_000 + b"}\n"), "not JSON"),
    BadUpload(
        "JSON over many lines", "a.json", _bytes(json.dumps([{"a": 1}], indent=1).encode()), "each line"
    ),
    BadUpload("JSON without objects", "a.jsonl", _bytes(b"1\n2\n"), "not a JSON object"),
    BadUpload("lone surrogates", "a.jsonl", _bytes(b'{"user":"a","text":"x \\ud800 y"}\n'), "Unicode"),
    BadUpload("zip bomb", "a.zip", _zip({"a.txt": b"a" * (60 * MEGABYTE)}), "zip bomb"),
    BadUpload("zip bomb, spread", "a.zip", _spread_bomb, "inflates"),
    BadUpload("zip that lies", "a.zip", _lying_zip, "damaged"),
    BadUpload("zip with fake directory", "a.zip", _fake_directory, "files"),
    BadUpload("zip of 21,000 files", "a.zip", _many_members, "20,000"),
    BadUpload("nested zip", "a.zip", _zip({"b.zip": _INNER.getvalue()}), "another archive"),
    BadUpload("nested zip, renamed", "a.zip", _zip({"b.txt": _INNER.getvalue()}), "another archive"),
    BadUpload("zip with ../", "a.zip", _zip({"../../etc/evil.txt": b"hello"}), "outside"),
    BadUpload("zip with ..\\", "a.zip", _zip({"..\\evil.txt": b"hello"}), "outside"),
    BadUpload("zip with /etc", "a.zip", _zip({"/etc/evil.txt": b"hello"}), "outside"),
    BadUpload("zip with C:", "a.zip", _zip({"C:/evil.txt": b"hello"}), "outside"),
    BadUpload(
        "zip with a link", "a.zip", _zip({"a.txt": b"/etc/passwd"}, attributes=stat.S_IFLNK | 0o777), "link"
    ),
    BadUpload("zip of pickles", "a.zip", _zip({"data.pkl": _PICKLE}), "pickle"),
    BadUpload("zip of pickles, renamed", "a.zip", _zip({"data.txt": _PICKLE}), "pickle"),
    BadUpload(
        "zip of pictures", "a.zip", _zip({"a.png": b"\x89PNG", "b.png": b"\x89PNG"}), "not a text file"
    ),
    BadUpload("bzip2 inside zip", "a.zip", _zip({"a.txt": b"hello"}, kind=zipfile.ZIP_BZIP2), "compression"),
    BadUpload("empty zip", "a.zip", _zip({}), "no documents"),
    BadUpload("zip cut short", "a.zip", _bytes(_INNER.getvalue()[:40]), "damaged"),
    BadUpload("spreadsheet", "a.xlsx", _zip({"[Content_Types].xml": b"<x/>", "xl/a.xml": b""}), "office"),
    BadUpload("text named zip", "a.zip", _bytes(b"hello there"), "not such a file"),
    BadUpload("Parquet cut short", "a.parquet", _bytes(b"PAR1" + b"x" * 100), "cut off"),
    BadUpload(
        "Parquet with garbage", "a.parquet", _bytes(b"PAR1" + b"x" * 96 + b"\x40\0\0\0PAR1"), "damaged"
    ),
    BadUpload("Parquet of 3,000 columns", "a.parquet", _wide_parquet, "columns"),
    BadUpload("Parquet dictionary bomb", "a.parquet", _parquet_bomb, "inflates"),
    BadUpload("Parquet dictionary bomb, plain", "a.parquet", _parquet_bomb_plain, "inflates"),
    BadUpload("Parquet of 130 MB", "a.parquet", _parquet_zeros, "inflates"),
)
