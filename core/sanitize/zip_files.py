"""A zip of text files: every text file is sanitised, and what is no text is named and left out."""

import io
import zipfile
import zlib
from typing import BinaryIO

from core.corpus.encoding import detect, spoken
from core.corpus.intake import Intake
from core.corpus.limits import DEFAULT_LIMITS, shown
from core.corpus.read_zip import check_directory, checked_members
from core.errors import InputError
from core.sanitize.items import text_items
from core.sanitize.writing import Writing

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
NOTE = ".not-sanitised.txt"  # ends the name of the note that stands for a file that was left out


def sanitize_zip(stream: BinaryIO, sink: BinaryIO, source: str, writing: Writing) -> None:
    """Write a zip with the same text files, sanitised, in the same order."""
    intake = Intake(source, DEFAULT_LIMITS)
    try:
        check_directory(stream, intake)
        with zipfile.ZipFile(stream) as archive, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as result:
            text = {info.filename for info in checked_members(archive, intake)}
            members = [info for info in archive.infolist() if not info.is_dir()]
            writing.total = sum(info.file_size for info in members)
            for info in members:
                fault = "" if info.filename in text else "it is not a text file by its name"
                fault = fault or _sanitize_member(archive, info, result, writing)
                if fault:
                    writing.tally.rows += 1
                    writing.tally.fail(shown(info.filename), fault)
                    result.writestr(info.filename + NOTE, f"This file was not sanitised: {fault}.\n")
                writing.finished += info.file_size
    except _DAMAGED as error:
        raise InputError(f"{source} is a damaged zip archive.") from error
    writing.tally.notes.append("The names of the files are as they were.")


def _sanitize_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, result: zipfile.ZipFile, writing: Writing
) -> str:
    """Sanitise one file; returns why it cannot be, or nothing."""
    with archive.open(info) as member:
        try:
            encoding = detect(member, shown(info.filename))  # type: ignore[arg-type]
        except InputError as error:
            return str(error).rstrip(".")
        note = f"Where the encoding was guessed, it was {spoken(encoding.codec)}; check words with accents."
        if encoding.guessed and note not in writing.tally.notes:
            writing.tally.notes.append(note)
        text = io.TextIOWrapper(member, encoding=encoding.codec, newline="")
        with result.open(info.filename, "w") as raw, io.TextIOWrapper(raw, "utf-8", newline="") as out:
            items = text_items(text, writing.policy, shown(info.filename))
            writing.write(items, out, member.tell, one_document=True)
    return ""
