"""CADP training in the background: it ends in a served model, stops, is lost and goes on, one at a time."""

import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.attack.targets import open_subject, targets_of
from core.context.cadp import run as running
from core.context.cadp.files import ServedCadp, read_card
from core.context.cadp.job import CadpJobs
from core.context.cadp.kept import training_folder
from core.context.cadp.model import Recipe
from core.context.cadp.plan import Point
from core.context.cadp.saved import cadp_folder, list_cadp, model_name
from core.context.cadp.status import curves
from core.context.detector import Detector
from core.corpus import Corpus, Document
from core.curator.job import hold
from core.curator.jobs import UNFINISHED_DAYS
from core.errors import InputError
from core.lm.public import load_public
from core.lm.stack import LoraShape
from core.predict import Decoding
from core.settings import Settings
from tests.core.context.cadp.stopping import stop_at

ROOT = Path(__file__).resolve().parents[4]
SHAPE = LoraShape(layers=2, rank=2, alpha=4.0)


@pytest.fixture
def own(tiny_llama, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "give_way", lambda: None)  # nobody answers here who would come first
    return Settings(_env_file=None, data_dir=tmp_path, model=str(tiny_llama))


def corpus(count=12, synthetic=True) -> Corpus:
    texts = [f"Note {n}: the patient slept." if n % 3 else "The soup was fine." for n in range(count)]
    documents = tuple(Document(f"user-{n}", text, "notes", n) for n, text in enumerate(texts))
    return Corpus("notes", documents, synthetic=synthetic)


def recipe(mechanism="dp-sgd", **settings) -> Recipe:
    return Recipe.of(mechanism, shape=SHAPE, **({"passes": 1, "batch": 6, "length": 24} | settings))


def ended(jobs: CadpJobs):
    jobs.wait()
    return jobs.status()


def studio(own: Settings) -> CadpJobs:
    """What a process has; another one is another process' after a restart."""
    return CadpJobs(own, lambda: load_public(own.model, own))


def weights(own: Settings, name: str) -> dict[str, str]:
    (entry,) = [entry for entry in list_cadp(own) if entry.name == name]
    return dict(entry.manifest.adapters)


def left(own: Settings) -> list[str]:
    """What is on disk of unfinished trainings."""
    return sorted(path.name for path in (own.data_dir / "cadp-training").rglob("*") if path.is_file())


def stopped(own: Settings, patch: pytest.MonkeyPatch, step: int = 3, **settings):
    """A training of six steps that was stopped after some of them."""
    jobs = studio(own)
    with patch.context() as inner:
        stop_at(inner, step)
        jobs.start(corpus(8), recipe(**({"batch": 1} | settings)), nobody, name="ward")
        return jobs, ended(jobs)


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


def test_a_stop_before_there_are_flags_leaves_nothing(own):
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
    status = ended(jobs)
    assert (status.state, status.kept) == ("stopped", False)
    assert list_cadp(own) == ()
    assert left(own) == []


@pytest.mark.parametrize("restarted", [False, True])
def test_a_stopped_training_goes_on_to_the_same_weights_and_the_same_card(own, monkeypatch, restarted):
    whole = studio(own)
    whole.start(corpus(8), recipe(batch=1, seed=5), nobody, name="whole")
    wanted = ended(whole)
    jobs, status = stopped(own, monkeypatch, seed=5)
    assert (status.state, status.kept, status.step, status.steps) == ("stopped", True, 4, 6)
    assert len(status.epsilons) == 4
    assert list_cadp(own)[0].name == "whole"
    if restarted:
        jobs.close()
        jobs = studio(own)
        assert jobs.status() == status
    begun = jobs.resume(status.id)
    assert begun.share == pytest.approx(status.share)
    assert begun.epsilons == status.epsilons  # the curves go on from where they were
    done = ended(jobs)
    assert (done.state, done.card) == ("done", wanted.card)
    assert done.epsilons == wanted.epsilons
    assert done.losses == wanted.losses
    assert weights(own, "ward") == weights(own, "whole")
    assert left(own) == []


def test_what_is_kept_is_for_its_owner_alone_and_goes_with_discard(own, monkeypatch):
    jobs, status = stopped(own, monkeypatch)
    folder = training_folder(own, "ward")
    assert left(own) == ["cadp.safetensors", "job.json", "lock", "text.json"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    with pytest.raises(InputError, match="unfinished: continue or discard"):
        jobs.start(corpus(), recipe(), nobody)
    assert jobs.discard(status.id) == "ward"
    assert left(own) == []
    assert jobs.status() is None
    for gone in (jobs.resume, jobs.discard):
        with pytest.raises(InputError, match="no such unfinished"):
            gone(status.id)
    with pytest.raises(InputError, match="not running"):
        jobs.cancel(status.id)


def test_a_killed_process_is_gone_on_from_its_checkpoint_without_its_detector(own):
    """Kill -9 at step 5; the checkpoint is at step 4. Text and flags are those that it began with."""
    command = [sys.executable, "-m", "tests.core.context.cadp.worker", str(own.data_dir), own.model]
    died = subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False)
    assert died.returncode == -9
    jobs = studio(own)
    status = jobs.status()
    assert (status.state, status.kept, status.step, status.steps) == ("interrupted", True, 4, 9)
    assert not status.synthetic
    jobs.resume(status.id)
    done = ended(jobs)
    assert (done.state, done.card.steps, done.card.sequences, done.card.flagged) == ("done", 9, 9, 9)
    assert done.epsilons[-1] == (9.0, done.card.epsilon)
    assert done.card.epsilon <= 8.0
    assert left(own) == []


def test_an_orderly_end_of_the_server_keeps_what_was_reached(own, monkeypatch):
    jobs = studio(own)
    with monkeypatch.context() as patch:
        heard = running.CadpRun._note
        patch.setattr(running.CadpRun, "_note", lambda run, seen: (heard(run, seen), jobs._closing.set())[0])
        jobs.start(corpus(), recipe(batch=1), nobody, name="ward")
        jobs.wait()
        jobs.close()
    status = studio(own).status()
    assert (status.state, status.kept) == ("interrupted", True)


def test_a_model_that_cannot_be_saved_is_saved_again_and_is_the_same_one(own, monkeypatch):
    """No step is made twice for it: another noise would be a second model under one account."""
    jobs = studio(own)
    with monkeypatch.context() as patch:
        patch.setattr("core.context.cadp.files.save_cadp", full_disk)
        jobs.start(corpus(8), recipe(batch=1), nobody, name="ward")
        status = ended(jobs)
    assert (status.state, status.kept, status.step) == ("failed", True, 6)
    assert status.sentence.startswith("The disk is full")
    monkeypatch.setattr("core.context.cadp.randomness.OsRandomness.normal", None)  # whoever draws fails
    jobs.resume(status.id)
    assert ended(jobs).state == "done"


def full_disk(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_another_process_or_another_model_does_not_go_on_with_it(own, monkeypatch, tiny_gpt2):
    jobs, status = stopped(own, monkeypatch)
    other = studio(own.model_copy(update={"model": str(tiny_gpt2)}))
    with pytest.raises(InputError, match="begun on the model"):
        other.resume(status.id)
    with hold(training_folder(own, "ward")):
        for act in (jobs.resume, jobs.discard):
            with pytest.raises(InputError, match="by another process"):
                act(status.id)


def test_what_nobody_goes_on_with_is_deleted_in_time(own, monkeypatch):
    jobs, _ = stopped(own, monkeypatch)
    jobs.sweep()
    assert left(own) != []
    then = time.time() - (UNFINISHED_DAYS + 1) * 86_400
    for path in training_folder(own, "ward").iterdir():
        os.utime(path, (then, then))
    jobs.sweep()
    assert left(own) == []


def test_a_damaged_job_is_not_listed_and_a_damaged_text_is_a_sentence(own, monkeypatch):
    jobs, status = stopped(own, monkeypatch)
    (training_folder(own, "ward") / "text.json").write_text("{")
    jobs.resume(status.id)
    again = ended(jobs)
    assert (again.state, again.kept) == ("failed", True)
    assert "missing or damaged" in again.sentence
    (training_folder(own, "ward") / "job.json").write_text("{")
    assert studio(own).status() is None


def test_curves_are_means_of_stretches_and_there_is_no_epsilon_without_noise():
    points = [Point(n + 1, None if n % 2 else float(n), 0.5 * (n + 1), 1, 1) for n in range(480)]
    losses, epsilons = curves(points)
    assert losses[0] == (4.0, 1.0)  # the mean of 0 and 2; the others were empty
    assert epsilons[0] == (4.0, 2.0)
    assert len(losses) == len(epsilons) == 120
    assert curves([Point(1, 2.0, math.inf, 1, 1), Point(2, 2.0, 0.0, 1, 1)])[1] == ()


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
