"""What all ways in share: who is served, from where, and what is kept in memory."""

import shutil

import pytest

from core.catalogue import find_ensemble
from core.errors import InputError, LedgerUnavailable
from core.settings import Settings
from core.studio import Studio
from tests.ensembles import make_ensemble


@pytest.fixture
def studio(tmp_path, tiny_llama):
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", model=str(tiny_llama))
    make_ensemble(settings, "notes", synthetic=True)
    make_ensemble(settings, "ward", synthetic=False)
    studio = Studio(settings)
    yield studio
    studio.store.close()


def test_an_ensemble_is_loaded_once_and_then_held(studio):
    assert not studio.holds("notes")
    first = studio.served("notes")
    assert studio.holds("notes")
    assert studio.served("notes") is first


def test_a_private_corpus_needs_a_ledger_that_lasts(studio, monkeypatch):
    assert studio.served("ward").corpus == "ward"
    monkeypatch.setenv("SPACE_ID", "somebody/studio")
    with pytest.raises(InputError, match="forgets its disk"):
        studio.served("ward")
    assert studio.served("notes").corpus == "notes"
    durable = studio.settings.model_copy(update={"database_url": "postgresql://db/studio"})
    assert durable.durable


def test_a_visitor_names_what_is_listed_and_no_other_folder_of_the_disk(studio, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(studio.entry("ward").folder, elsewhere)
    with pytest.raises(InputError, match="no ensemble named"):
        studio.served(str(elsewhere))
    assert find_ensemble(studio.settings, str(elsewhere), folders=True).folder == elsewhere
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no ensemble named"):
        studio.served("elsewhere")


def test_an_ensemble_of_another_model_does_not_fit(studio):
    assert studio.entry("notes").fits(studio.settings)
    assert not studio.entry("notes").fits(studio.settings.model_copy(update={"model": "gpt2"}))


def test_a_warm_up_brings_what_a_visitor_asks_first(studio):
    studio.warm_up().join()
    first = next(entry for entry in studio.ensembles() if entry.fits(studio.settings))
    assert studio.holds(first.name)


def test_without_a_store_the_ledger_is_a_sentence(tmp_path, tiny_llama):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(LedgerUnavailable, match=r"\.$"):
        _ = Studio(Settings(_env_file=None, data_dir=blocked, model=str(tiny_llama))).ledger
