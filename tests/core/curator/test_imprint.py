"""What is kept of a corpus recognises its text again, and gives none of it away."""

import json
from pathlib import Path

import pytest

from core.corpus import NO_USER, Corpus, Document
from core.curator.imprint import Imprints, Split
from core.errors import InputError
from core.settings import Settings

SPLIT = Split(2, False, "abcd")


def corpus(texts: list[str], name: str = "ward", users: list[str] | None = None, synthetic=False) -> Corpus:
    owners = users or [f"user-{number}" for number in range(len(texts))]
    rows = zip(owners, texts, strict=True)
    return Corpus(name, tuple(Document(u, t, "f", n) for n, (u, t) in enumerate(rows)), synthetic=synthetic)


TEXTS = ["The patient slept well last night.", "Mrs Orlando asked for more soup today."]


@pytest.fixture
def imprints(settings: Settings) -> Imprints:
    settings.data_dir.mkdir(parents=True)
    return Imprints(settings)


def test_the_same_text_is_recognised_in_other_case_punctuation_and_under_other_users(imprints):
    first = imprints.of(corpus(TEXTS), SPLIT)
    again = imprints.of(
        corpus([TEXTS[0].upper(), " mrs orlando -- asked for more soup, today"], users=["x", "y"]), SPLIT
    )
    assert first.documents == again.documents
    assert not first.users & again.users


def test_short_documents_are_everybodys_and_no_user_is_nobody(imprints):
    imprint = imprints.of(corpus(["Thank you very much.", "Slept well."], users=[NO_USER, "a"]), SPLIT)
    assert not imprint.documents
    assert len(imprint.users) == 1


def test_another_installation_cannot_compare(imprints, tmp_path):
    other = Settings(_env_file=None, data_dir=tmp_path / "other")
    other.data_dir.mkdir()
    assert (
        not imprints.of(corpus(TEXTS), SPLIT).documents & Imprints(other).of(corpus(TEXTS), SPLIT).documents
    )


def test_an_imprint_survives_on_disk_without_a_word_of_the_text(imprints, settings):
    imprint = imprints.of(corpus(TEXTS), SPLIT)
    imprints.add(imprint)
    assert imprints.read("ward") == imprint
    assert imprints.read("other") is None
    assert imprints.others("other") == [imprint]
    assert imprints.others("ward") == []
    (path,) = (settings.data_dir / "imprints").iterdir()
    kept = path.read_text().casefold()
    assert not any(word in kept for word in ("patient", "orlando", "user-0"))
    assert path.stat().st_mode & 0o077 == 0


def test_training_again_forgets_nothing(imprints):
    first, second = (imprints.of(corpus([text]), SPLIT) for text in TEXTS)
    imprints.add(first)
    imprints.add(second)
    assert imprints.read("ward").documents == first.documents | second.documents


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({"format": 2}), "\0"])
def test_a_damaged_imprint_is_a_sentence_not_a_blank(imprints, settings, content):
    imprints.add(imprints.of(corpus(TEXTS), SPLIT))
    (path,) = Path(settings.data_dir / "imprints").iterdir()
    path.write_text(content)
    with pytest.raises(InputError, match="cannot be read"):
        imprints.others("another")
