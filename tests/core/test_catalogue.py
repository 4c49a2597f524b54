"""Ensembles by name: listed, renamed and deleted, while their budgets keep their names."""

from pathlib import Path

import pytest

from core.catalogue import (
    DEMO,
    delete_ensemble,
    ensemble_folder,
    find_ensemble,
    list_ensembles,
    rename_ensemble,
)
from core.errors import InputError
from core.settings import Settings
from tests.ensembles import make_ensemble


@pytest.fixture
def home(tiny_llama: Path, tmp_path: Path) -> Settings:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", model=str(tiny_llama))
    for name in ("ward", "clinic"):
        make_ensemble(settings, name, synthetic=False, k=2)
    return settings


def names(settings: Settings) -> list[str]:
    return [entry.name for entry in list_ensembles(settings) if not entry.shipped]


def test_a_renamed_ensemble_is_found_by_its_new_name_and_keeps_its_corpus(home):
    entry = rename_ensemble(home, "ward", "night ward", budgets=["ward", "clinic"])
    assert (entry.name, entry.corpus) == ("night ward", "ward")
    assert find_ensemble(home, "night ward") == entry
    assert names(home) == ["clinic", "night ward"]
    back = rename_ensemble(home, "night ward", "ward", budgets=["ward", "clinic"])
    assert back.name == back.corpus == "ward"


@pytest.mark.parametrize("new", ["clinic", "gone", DEMO, "", " x", "a/b", "..", ".x", "x" * 121, "a\nb"])
def test_a_name_that_is_taken_or_none_is_refused(home, new):
    with pytest.raises(InputError, match="name"):
        rename_ensemble(home, "ward", new, budgets=["ward", "clinic", "gone"])
    assert names(home) == ["clinic", "ward"]


def test_a_renamed_corpus_name_is_not_free_for_another(home):
    rename_ensemble(home, "ward", "night ward", budgets=[])
    with pytest.raises(InputError, match="another ensemble or of its budget"):
        rename_ensemble(home, "clinic", "ward", budgets=[])


def test_deleting_leaves_nothing_of_the_ensemble_and_the_others_alone(home):
    assert delete_ensemble(home, "ward").corpus == "ward"
    assert names(home) == ["clinic"]
    assert [path.name for path in (home.data_dir / "ensembles").iterdir()] == ["clinic"]
    with pytest.raises(InputError, match="no ensemble named 'ward'"):
        delete_ensemble(home, "ward")


@pytest.mark.parametrize("name", ["../data", "/etc", "", "clinic/part-01"])
def test_only_what_is_listed_can_be_deleted_or_renamed(home, name):
    with pytest.raises(InputError, match="no ensemble named"):
        delete_ensemble(home, name)
    with pytest.raises(InputError, match="no ensemble named"):
        rename_ensemble(home, name, "x", budgets=[])


def test_what_came_with_the_studio_stays(home, monkeypatch):
    shipped = ensemble_folder(home, "clinic")
    monkeypatch.setattr("core.catalogue.SHIPPED", shipped)
    for change in (
        lambda: delete_ensemble(home, "clinic"),
        lambda: rename_ensemble(home, "clinic", "x", budgets=[]),
    ):
        with pytest.raises(InputError, match="came with the studio"):
            change()
    assert shipped.is_dir()
