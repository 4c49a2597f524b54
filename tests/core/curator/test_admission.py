"""A budget belongs to its corpus: no new name, no deletion and no declaration gives it a second one."""

from dataclasses import asdict

import pytest

from core.catalogue import delete_ensemble, rename_ensemble
from core.curator.admission import admit, plan_terms
from core.curator.train import train_admitted
from core.curator.uploads import Reading
from core.errors import InputError
from tests.core.curator.texts import notes, plan, write_notes

PRIVATE, SYNTHETIC = Reading(), Reading(synthetic=True)


@pytest.fixture
def ask(studio, tmp_path):
    """Asks whether rows may be trained under a name."""

    def asked(name="ward", rows=None, how=PRIVATE, with_plan=None, add=False):
        path = write_notes(tmp_path / "asked.jsonl", rows)
        corpus = studio.jobs.uploads.read(studio.jobs.uploads.take(path), how, name)
        wanted = with_plan or plan()
        return admit(studio.settings, studio.ledger, corpus, wanted, name, guarantees_add=add)

    return asked


@pytest.fixture
def train(studio, ask, tmp_path):
    """Trains what is admitted."""

    def trained(name="ward", **how):
        admission = ask(name, **how)
        public = studio.public()
        train_admitted(admission, studio.settings, studio.ledger, public, checkpoints=tmp_path / "points")
        return admission

    return trained


def spend(studio, corpus="ward"):
    studio.ledger.debit(corpus, [0.1] * studio.ledger.budget(corpus).parts)


def test_a_new_corpus_is_trained_and_its_budget_opened_with_the_plan(studio, train):
    assert train().notes == ()
    budget = studio.ledger.budget("ward")
    expected = asdict(plan_terms(plan(), synthetic=False))
    assert {name: getattr(budget, name) for name in expected} == expected
    assert [entry.name for entry in studio.ensembles() if not entry.shipped] == ["ward"]


def test_training_again_goes_on_with_the_budget_and_its_terms(studio, train):
    train()
    spend(studio)
    again = train(rows=notes(20), with_plan=plan(epsilon=50.0, queries=9_999, alpha=4.0))
    assert "goes on: epsilon 2 at alpha 2, 1 of 32 queries used" in again.notes[0]
    budget = studio.ledger.budget("ward")
    assert (budget.epsilon, budget.queries, budget.used) == (2.0, 32, 1)
    assert studio.entry("ward").manifest.budget["epsilon"] == 2.0


@pytest.mark.parametrize("changes", [{"parts": 3}, {"halves": True}, {"halves": True, "protocol": "submix"}])
def test_another_split_is_refused_before_training(ask, train, changes):
    train()
    with pytest.raises(InputError, match=r"trained with 2 parts; another split would move users"):
        ask(with_plan=plan(**changes), rows=notes(30))


def test_a_deleted_corpus_has_its_budget_still(studio, ask, train):
    train()
    spend(studio)
    delete_ensemble(studio.settings, "ward")
    with pytest.raises(InputError, match="its budget outlived it"):
        ask(with_plan=plan(parts=3), rows=notes(30))
    assert "1 of 32 queries used" in train().notes[0]
    assert studio.ledger.budget("ward").used == 1


def test_a_budget_whose_split_nobody_knows_is_not_continued(studio, ask):
    studio.ledger.open_budget("ward", **asdict(plan_terms(plan(), synthetic=False)))
    with pytest.raises(InputError, match="record of how its users were split is gone"):
        ask()


def test_the_same_text_under_another_name_is_refused(ask, train):
    train()
    with pytest.raises(InputError, match=r"12 of 12 documents are also in 'ward'.*a second budget"):
        ask("ward again")
    with pytest.raises(InputError, match=r"1 of 12 documents are also in 'ward'"):
        ask("later notes", rows=notes(12, start=11))


def test_the_curator_may_declare_that_the_guarantees_add(studio, train):
    train()
    second = train("ward again", add=True, with_plan=plan(epsilon=3.0))
    assert "epsilon 2 and 3 make 5 at alpha 2" in second.notes[0]
    assert studio.entry("ward again").manifest.partition["adds_to"] == ["ward"]


def test_deleting_does_not_make_the_text_forgotten(studio, ask, train):
    train()
    spend(studio)
    delete_ensemble(studio.settings, "ward")
    with pytest.raises(InputError, match="also in 'ward'"):
        ask("another name")


def test_a_corpus_that_was_deleted_before_anything_was_said_of_it_is_no_matter(studio, ask, train):
    train()
    delete_ensemble(studio.settings, "ward")
    assert ask("another name", with_plan=plan(parts=3)).adds_to == ()


def test_private_text_cannot_be_declared_synthetic_later(ask, train):
    train()
    for add in (False, True):
        with pytest.raises(InputError, match="private once cannot be declared synthetic"):
            ask("a demonstration", how=SYNTHETIC, add=add)
    with pytest.raises(InputError, match="stays private, whatever is declared"):
        ask("ward", how=SYNTHETIC)


def test_private_text_does_not_get_a_budget_that_may_be_started_over(ask, train):
    train(how=SYNTHETIC)
    with pytest.raises(InputError, match="needs a name of its own"):
        ask("ward")
    assert "no budget covers" in ask("private ward").notes[0]


def test_a_synthetic_corpus_may_be_trained_anew_with_another_split(studio, train):
    train(how=SYNTHETIC)
    spend(studio)
    delete_ensemble(studio.settings, "ward")
    train(how=SYNTHETIC, with_plan=plan(parts=3), rows=notes(30))
    assert (studio.ledger.budget("ward").parts, studio.ledger.budget("ward").used) == (3, 0)


def test_the_same_people_in_new_documents_are_pointed_out(ask, train):
    train()
    (note,) = ask("ward 2027", rows=notes(12, topic="was moved to another bed")).notes
    assert note.startswith("12 of 12 user ids are also in 'ward'.")


def test_a_renamed_ensemble_keeps_corpus_split_and_budget(studio, ask, train):
    train()
    spend(studio)
    rename_ensemble(studio.settings, "ward", "night ward", budgets=studio.ledger.corpora())
    with pytest.raises(InputError, match="now called 'night ward'"):
        ask("ward")
    admission = train("night ward")
    assert admission.corpus.name == "ward"
    assert studio.ledger.corpora() == ["ward"]
    assert studio.ledger.budget("ward").used == 1


def test_what_moved_during_a_training_stops_it_before_anything_is_replaced(studio, ask, tmp_path):
    admission = ask()
    studio.ledger.open_budget("ward", **asdict(plan_terms(plan(epsilon=9.0), synthetic=False)))
    with pytest.raises(InputError, match="changed by somebody else"):
        train_admitted(
            admission, studio.settings, studio.ledger, studio.public(), checkpoints=tmp_path / "points"
        )
    assert not admission.folder.exists()
    assert not (studio.settings.data_dir / "imprints").exists()


def test_on_a_disk_that_forgets_only_synthetic_text_is_trained(ask, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "somebody/studio")
    with pytest.raises(InputError, match="SUBMIX_DATABASE_URL"):
        ask()
    assert ask(how=SYNTHETIC).corpus.synthetic


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"parts": 1}, "One part gives no protection"),
        ({"parts": 12}, "leave a part"),
        ({"epsilon": -1.0}, "Epsilon"),
        ({"alpha": 1.0}, "Alpha"),
        ({"queries": 0}, "queries"),
        ({"w_max": 1.5}, "weight"),
        ({"protocol": "ensemble"}, "synthetic"),
        ({"protocol": "finetuned"}, "stream of its own"),
        ({"whole_passes": 1}, "recites"),
    ],
)
def test_a_plan_that_cannot_be_served_is_refused_before_training(ask, changes, sentence):
    with pytest.raises(InputError, match=sentence):
        ask(with_plan=plan(**changes))


@pytest.mark.parametrize("name", ["", " ward", "a/b", "..", ".hidden", "x" * 121, "ü" * 100, "a\nb", "a\0b"])
def test_a_name_that_is_none_is_refused(ask, name):
    with pytest.raises(InputError, match="name"):
        ask(name)


def test_a_full_disk_is_noticed_before_training(studio, ask, tmp_path, monkeypatch):
    admission = ask()
    monkeypatch.setattr("core.curator.train._SPARE", 10**18)
    with pytest.raises(InputError, match="GB are free"):
        train_admitted(
            admission, studio.settings, studio.ledger, studio.public(), checkpoints=tmp_path / "points"
        )
