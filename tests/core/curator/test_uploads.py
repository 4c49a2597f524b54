"""A text leaves the web server's cache at once, and nothing of it stays for longer than is said."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from core.curator.uploads import UPLOAD_HOURS, Reading, Uploads
from core.errors import InputError
from core.settings import Settings
from tests.core.curator.texts import write_notes

HOUR = timedelta(hours=1)


@pytest.fixture
def uploads(settings: Settings) -> Uploads:
    return Uploads(settings)


def test_a_taken_file_is_gone_from_where_it_was_and_only_its_owner_can_read_it(uploads, settings, tmp_path):
    source = write_notes(tmp_path / "cache" / "ward notes.jsonl")
    upload = uploads.take(source)
    assert not source.exists()
    assert upload.path.name == upload.name == "ward notes.jsonl"
    assert settings.data_dir / "uploads" in upload.path.parents
    assert stat.S_IMODE(upload.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(upload.path.parent.stat().st_mode) == 0o700
    corpus = uploads.read(uploads.find(upload.id), Reading(synthetic=True), "ward")
    assert (corpus.name, len(corpus.users), corpus.synthetic) == ("ward", 12, True)


def test_a_file_that_cannot_be_kept_is_a_sentence_and_is_gone_too(uploads, settings, tmp_path):
    settings.data_dir.mkdir(parents=True)
    (settings.data_dir / "uploads").write_text("a file where the folder should be")
    source = write_notes(tmp_path / "cache" / "a.jsonl")
    with pytest.raises(InputError, match="cannot be kept"):
        uploads.take(source)
    assert not source.exists()


def test_what_waits_too_long_is_deleted_and_what_is_in_training_is_not(uploads, tmp_path):
    first, second = (uploads.take(write_notes(tmp_path / f"{name}.jsonl")) for name in "ab")
    soon, late = (datetime.now(UTC) + hours * HOUR for hours in (UPLOAD_HOURS - 1, UPLOAD_HOURS + 1))
    assert uploads.sweep((), soon) == 0
    assert uploads.sweep({second.id}, late) == 1
    assert uploads.find(second.id) == second
    with pytest.raises(InputError, match="Upload it again"):
        uploads.find(first.id)


def test_the_newest_text_that_no_training_has_taken_is_the_one_that_waits(uploads, tmp_path):
    assert uploads.waiting() is None
    first, second = (uploads.take(write_notes(tmp_path / f"{name}.jsonl")) for name in "ab")
    os.utime(first.path.parent, (0, 0))
    assert uploads.waiting().id == second.id
    assert uploads.waiting({second.id}).id == first.id


@pytest.mark.parametrize("identity", ["", "..", "../ensembles", "x" * 32, "/etc", "a" * 31])
def test_what_is_not_an_id_finds_and_deletes_nothing(uploads, settings, identity):
    (settings.data_dir / "ensembles").mkdir(parents=True)
    with pytest.raises(InputError):
        uploads.find(identity)
    uploads.delete(identity)
    assert (settings.data_dir / "ensembles").is_dir()
