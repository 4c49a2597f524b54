"""CADP training in the background: it ends in a model that is served, it stops, and it is one at a time."""

import threading

import pytest

from core.attack.targets import open_subject, targets_of
from core.context.cadp_files import ServedCadp, read_card
from core.context.cadp_job import CadpJobs, cadp_folder, list_cadp, model_name
from core.context.cadp_model import Recipe
from core.context.detector import Detector
from core.corpus import Corpus, Document
from core.errors import InputError
from core.lm.public import load_public
from core.lm.stack import LoraShape
from core.predict import Decoding
from core.settings import Settings

SHAPE = LoraShape(layers=2, rank=2, alpha=4.0)


@pytest.fixture
def own(tiny_llama, tmp_path):
    return Settings(_env_file=None, data_dir=tmp_path, model=str(tiny_llama))


def corpus(count=12, synthetic=True) -> Corpus:
    texts = [f"Note {n}: the patient slept." if n % 3 else "The soup was fine." for n in range(count)]
    documents = tuple(Document(f"user-{n}", text, "notes", n) for n, text in enumerate(texts))
    return Corpus("notes", documents, synthetic=synthetic)


def recipe(mechanism="dp-sgd", **settings) -> Recipe:
    return Recipe.of(mechanism, shape=SHAPE, **({"passes": 1, "batch": 6, "length": 24} | settings))


def ended(jobs: CadpJobs):
    jobs._run.thread.join(120)
    return jobs.status()


def nobody() -> Detector:
    raise AssertionError("no detector is asked")


def test_a_training_ends_in_a_model_that_is_listed_served_and_attacked(own):
    public = load_public(own.model, own)
    jobs = CadpJobs(own, lambda: public)
    begun = jobs.start(corpus(), recipe(epsilon=4.0), nobody)
    status = ended(jobs)
    assert begun.name == status.name == "notes, DP-SGD epsilon 4"
    assert (status.state, status.share, status.sentence) == ("done", 1.0, "")
    assert 0.0 < status.epsilons[-1][1] <= 4.0
    assert status.card == read_card(cadp_folder(own, status.name))
    (entry,) = list_cadp(own)
    assert entry.fits(own)
    assert entry.synthetic
    served = ServedCadp(entry.folder, public)
    assert len(list(served.stream("Note", Decoding(), length=3, limits=own))) == 3
    subject = open_subject(entry.folder, public)
    assert "DP-SGD" in targets_of(subject.manifest, subject.name)[0].title
    assert not (own.data_dir / "cadp-training" / status.name).exists()


def test_the_detectors_flags_and_its_recall_are_on_the_card(own, tiny):
    public = load_public(own.model, own)
    jobs = CadpJobs(own, lambda: public)
    jobs.start(corpus(), recipe("cadp"), lambda: tiny)
    card = ended(jobs).card
    assert card is not None
    assert card.recall is not None
    assert "threshold 0.5" in card.flags


def test_stop_ends_it_and_leaves_neither_model_nor_checkpoint(own):
    begun, go = threading.Event(), threading.Event()

    def public():
        begun.set()
        go.wait(60)
        return load_public(own.model, own)

    jobs = CadpJobs(own, public)
    jobs.start(corpus(), recipe(passes=4), nobody)
    begun.wait(60)
    with pytest.raises(InputError, match="under way"):
        jobs.start(corpus(), recipe(), nobody)
    jobs.cancel()
    go.set()
    assert ended(jobs).state == "stopped"
    assert list_cadp(own) == ()
    assert not any((own.data_dir / "cadp-training").glob("*"))


def test_what_a_training_dies_of_is_a_sentence(own):
    def public():
        raise InputError("The model is not there.")

    jobs = CadpJobs(own, public)
    jobs.start(corpus(), recipe(), nobody)
    status = ended(jobs)
    assert (status.state, status.sentence) == ("failed", "The model is not there.")


def test_private_text_is_never_trained_on_without_privacy(own):
    jobs = CadpJobs(own, lambda: load_public(own.model, own))
    with pytest.raises(InputError, match="synthetic"):
        jobs.start(corpus(synthetic=False), recipe("none"), nobody)
    assert jobs.status() is None


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", ".hidden", "new\nline"])
def test_a_model_has_a_plain_name(own, name):
    with pytest.raises(InputError):
        cadp_folder(own, name)
    assert "/" not in model_name("a/b", "cadp", 1.0)
