"""A zip of text files, read member by member in memory: nothing is ever written to the disk."""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import BinaryIO

from core.corpus.encoding import Encoding, detect, known_binary
from core.corpus.intake import Intake
from core.corpus.limits import MEGABYTE, shown
from core.corpus.read_text import note_encoding
from core.errors import InputError

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_TEXT = frozenset({"", ".txt", ".text", ".md", ".log"})
_ARCHIVES = frozenset({".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".zst", ".jar", ".whl"})
_PICKLES = frozenset({".pkl", ".pickle", ".pt", ".pth", ".joblib"})
_END = struct.Struct("<4s4H2LH")  # end of central directory
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error, ValueError)


def read_zip(stream: BinaryIO, intake: Intake, *, user_column: str | None, text_column: str | None) -> None:
    """One file is one document; its user is the top folder, or the file's own name where there is none."""
    if user_column or text_column:
        raise InputError(f"{intake.source} is a zip of text files and has no columns to name.")
    try:
        check_directory(stream, intake)
        with zipfile.ZipFile(stream) as archive:
            members = checked_members(archive, intake)
            _take_members(archive, members, intake)
    except _DAMAGED as error:
        raise InputError(f"{intake.source} is a damaged zip archive.") from error


def check_directory(stream: BinaryIO, intake: Intake) -> None:
    """Refuse a table of contents that is too large, before the zip module builds objects of it."""
    size = stream.seek(0, 2)
    tail_size = min(size, _END.size + 65_535)
    stream.seek(size - tail_size)
    tail = stream.read(tail_size)
    stream.seek(0)
    at = len(tail) - _END.size
    if at < 0 or not (tail[at:].startswith(b"PK\x05\x06") and tail.endswith(b"\0\0")):
        at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise InputError(f"{intake.source} is a damaged zip archive.")
    directory_bytes = _END.unpack_from(tail, at)[5]
    if tail[max(0, at - 20) : at].startswith(b"PK\x06\x07") or directory_bytes == 0xFFFFFFFF:
        raise InputError(
            f"{intake.source} is a Zip64 archive, which is not read; pack it again as a plain zip."
        )
    if directory_bytes > intake.limits.directory_bytes:
        raise InputError(f"{intake.source} holds more than {intake.limits.members:,} files.")


def checked_members(archive: zipfile.ZipFile, intake: Intake) -> list[zipfile.ZipInfo]:
    """The members that are text by name; the archive is refused when any member is hostile."""
    limits, infos = intake.limits, archive.infolist()
    if len(infos) > limits.members:
        raise InputError(f"{intake.source} holds more than {limits.members:,} files.")
    if any(info.filename in ("[Content_Types].xml", "mimetype") for info in infos):
        raise InputError(f"{intake.source} is an office document or e-book; save it as text or CSV.")
    for info in infos:
        _refuse_hostile(info, intake)
    if sum(info.file_size for info in infos) > limits.inflated_bytes:
        raise InputError(f"{intake.source} inflates to more than {limits.inflated_bytes // MEGABYTE} MB.")
    kept = []
    for info in infos:
        path = PurePosixPath(info.filename)
        if info.is_dir():
            continue
        if path.parts[0] == "__MACOSX" or any(part.startswith(".") for part in path.parts):
            intake.drop("hidden files", shown(info.filename))
        elif path.suffix.lower() not in _TEXT:
            intake.drop("not a text file by its name", shown(info.filename))
        else:
            kept.append(info)
    return kept


def _refuse_hostile(info: zipfile.ZipInfo, intake: Intake) -> None:
    """Raise for a member that no honest zip of text files has."""
    source, name = intake.source, shown(info.filename)
    path = PurePosixPath(info.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]) or not path.parts:
        raise InputError(f"{source} holds a file named '{name}', which points outside the archive.")
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InputError(f"{source} holds a link or device, '{name}'; pack only files.")
    if info.flag_bits & 0x1:
        raise InputError(f"{source} is encrypted; pack it without a password.")
    if path.suffix.lower() in _ARCHIVES:
        raise InputError(f"{source} holds another archive, '{name}'; unpack that first.")
    if path.suffix.lower() in _PICKLES:
        raise InputError(f"{source} holds a Python pickle, '{name}', which is never opened.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{source} uses a rare kind of compression; pack it again as a plain zip.")
    if info.file_size > MEGABYTE and info.file_size > intake.limits.inflation * max(info.compress_size, 1):
        raise InputError(
            f"{source} is a zip bomb: '{name}' would grow {intake.limits.inflation} times or more."
        )


def _take_members(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], intake: Intake) -> None:
    """Read each member whole, in memory, and take it as one document."""
    users, how = _users_by_path([PurePosixPath(info.filename) for info in members])
    encoding: Encoding | None = None
    inflated = 0
    for row, (info, user) in enumerate(zip(members, users, strict=True), start=1):
        data = _member_bytes(archive, info, intake)
        inflated += len(data)
        if inflated > intake.limits.inflated_bytes:
            raise InputError(
                f"{intake.source} inflates to more than {intake.limits.inflated_bytes // MEGABYTE} MB."
            )
        name = shown(info.filename)
        if data.startswith(MAGICS):
            raise InputError(f"{intake.source} holds another archive, '{name}'; unpack that first.")
        if (what := known_binary(data)) is not None:
            intake.drop(f"not text but {what}", name)
            continue
        try:
            found = detect(io.BytesIO(data), name, prefer=encoding)
        except InputError as error:
            intake.drop("NUL bytes" if "NUL" in str(error) else "not text in a known encoding", name)
            continue
        if found.guessed and encoding is None:
            encoding = found
            note_encoding(found, intake)
        intake.take(user, data.decode(found.codec), row, source=info.filename)
    if intake.users == "auto":
        intake.notes.append(how)


def _member_bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo, intake: Intake) -> bytes:
    """The member's bytes, inflated no further than the size that it declares."""
    blocks, size = [], 0
    with archive.open(info) as member:
        while block := member.read(64 * 1024):
            size += len(block)
            if size > info.file_size:
                raise InputError(
                    f"{intake.source} is a zip bomb: '{shown(info.filename)}' lies about its size."
                )
            blocks.append(block)
    return b"".join(blocks)


def _users_by_path(paths: Sequence[PurePosixPath]) -> tuple[list[str], str]:
    """The user of each path once the folders that all share are taken off, and the rule in a sentence."""
    parts = [path.parts for path in paths]
    while parts and all(len(each) > 1 for each in parts) and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    users = [each[0] if len(each) > 1 else PurePosixPath(each[0]).stem for each in parts]
    if any(len(each) > 1 for each in parts):
        return users, "Users are the folders of the zip; a file outside a folder is a user of its own."
    return users, "Each file of the zip is taken to be a user of its own, by its name."
