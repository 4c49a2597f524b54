"""From bytes to text: UTF-8, UTF-16 and UTF-32 by their mark, others guessed and said, the rest refused."""

import codecs
import re
from dataclasses import dataclass
from typing import BinaryIO

from core.corpus.limits import MEGABYTE
from core.errors import InputError

SAMPLE = 32 * 1024  # bytes that a guess looks at
_USUAL = "cp1252"
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SIGNATURES = (
    (re.compile(rb"\x80[\x02-\x05][\x95cq}\](X\x8c]"), "a Python pickle, which is never opened"),
    (
        re.compile(rb"(?:\(?[dl]p?[01]\n|\(i?c?[\w.]+\n[\w.]+\n\(|c[\w.]+\n\w+\n[pq(])"),
        "a Python pickle, which is never opened",
    ),
    (re.compile(rb"\x1f\x8b"), "a gzip archive; unpack it first"),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), "a zip archive"),
    (re.compile(rb"PAR1"), "a Parquet file"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "a bzip2 archive; unpack it first"),
    (re.compile(rb"\xfd7zXZ\x00"), "an xz archive; unpack it first"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7z archive; unpack it first"),
    (re.compile(rb"Rar!\x1a\x07"), "a RAR archive; unpack it first"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "a zstd archive; unpack it first"),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive; pack the text files as a zip"),
    (re.compile(rb"%PDF-"), "a PDF; save its text first"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office document; save it as text or CSV"),
    (re.compile(rb"\{\\rtf"), "an RTF document; save it as plain text"),
    (re.compile(rb"SQLite format 3\x00"), "an SQLite database; export a table as CSV"),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP", re.DOTALL), "a picture"),
    (re.compile(rb"\x7fELF|MZ.{58}|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe", re.DOTALL), "a program"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array"),
    (re.compile(rb"\x89HDF\r\n"), "an HDF5 file"),
    (re.compile(rb"GGUF"), "a language model"),
)


@dataclass(frozen=True)
class Encoding:
    """The codec to read with, and whether it was guessed."""

    codec: str
    guessed: bool = False


def spoken(codec: str) -> str:
    """A codec's name as people write it."""
    return codec.removesuffix("-sig").upper()


def known_binary(head: bytes) -> str | None:
    """What a file is by its first bytes when that is known not to be text, in words."""
    for signature, what in _SIGNATURES:
        if signature.match(head):
            return what
    return None


def detect(stream: BinaryIO, name: str, *, prefer: Encoding | None = None) -> Encoding:
    """Find the encoding of a whole stream and rewind it; raises InputError when it is not text.

    `prefer` is a guess made before on a file of the same upload, tried before guessing anew.
    """
    stream.seek(0)
    head = stream.read(SAMPLE)
    marked = next((codec for mark, codec in _MARKS if head.startswith(mark)), None)
    if marked is None and (what := known_binary(head)) is not None:
        raise InputError(f"{name} is {what}.")
    codec = marked or "utf-8"
    failed_at = _first_fault(stream, codec, name)
    if failed_at is None:
        return Encoding(codec)
    if marked is not None:
        raise InputError(
            f"{name} is marked as {spoken(marked)}, but near byte {failed_at:,} it is not; save it as UTF-8."
        )
    if prefer is not None and prefer.guessed and _first_fault(stream, prefer.codec, name) is None:
        return prefer
    return _guess(stream, name, failed_at)


def _first_fault(stream: BinaryIO, codec: str, name: str) -> int | None:
    """Decode the stream, keep nothing, and return the offset of the first fault; None if all is well."""
    decoder = codecs.getincrementaldecoder(codec)()
    stream.seek(0)
    offset = 0
    while block := stream.read(MEGABYTE):
        try:
            text = decoder.decode(block)
        except UnicodeError as error:
            if b"\0" in block:
                raise InputError(f"{name} holds NUL bytes, so it is not text.") from error
            stream.seek(0)
            return offset + (error.start if isinstance(error, UnicodeDecodeError) else 0)
        if "\0" in text:
            raise InputError(f"{name} holds NUL bytes, so it is not text.")
        offset += len(block)
    stream.seek(0)
    try:
        decoder.decode(b"", final=True)
    except UnicodeError:
        return offset
    return None


def _guess(stream: BinaryIO, name: str, around: int) -> Encoding:
    """Guess an eight-bit encoding from bytes near the first fault, and check it on the whole stream."""
    from charset_normalizer import from_bytes

    stream.seek(max(0, around - SAMPLE // 2))
    sample = stream.read(SAMPLE)
    printable = sum(byte >= 32 or byte in b"\t\n\r\f" for byte in sample)
    matches = list(from_bytes(sample)) if printable > 0.98 * len(sample) else []
    codec = matches[0].encoding if matches else None
    # several encodings often fit equally well; Windows Latin is by far the most common of them
    if any(_USUAL in match.could_be_from_charset and match.chaos <= matches[0].chaos for match in matches):
        codec = _USUAL
    if codec is None or _first_fault(stream, codec, name) is not None:
        raise InputError(f"{name} is not text in an encoding that can be told; save it as UTF-8.")
    return Encoding(codec, guessed=True)
