"""The background worker: one training at a time, which can be watched, stopped, lost and continued."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.curator.jobs import UNFINISHED_DAYS
from core.curator.run import sentence_of
from core.curator.status import thinned
from core.curator.uploads import Reading
from core.errors import InputError
from core.settings import Settings
from core.studio import Studio
from tests.core.curator.texts import notes, plan, same_key, stop_at, write_notes

ROOT = Path(__file__).resolve().parents[3]
LONG = plan(training=plan().training.__class__(**{**vars(plan().training), "passes": 400}))


def left_behind(settings: Settings) -> list[str]:
    """Every file under the data folder that may hold text or what was learned from it."""
    folders = ("uploads", "training", "ensembles")
    return [str(path) for name in folders for path in (settings.data_dir / name).rglob("*") if path.is_file()]


def weights(studio: Studio, name: str = "ward") -> dict[str, str]:
    return dict(studio.entry(name).manifest.adapters)


@pytest.fixture(scope="module")
def undisturbed(tiny_llama, tmp_path_factory) -> dict[str, str]:
    """The weights of a training that nobody interrupted."""
    folder = tmp_path_factory.mktemp("undisturbed")
    studio = Studio(same_key(Settings(_env_file=None, data_dir=folder / "data", model=str(tiny_llama))))
    studio.jobs.submit(studio.jobs.take(write_notes(folder / "a.jsonl")), Reading(), plan(), "ward")
    assert studio.jobs.wait(120)
    assert studio.jobs.statuses()[0].state == "done"
    found = weights(studio)
    studio.jobs.close()
    studio.store.close()
    return found


def test_a_training_ends_with_a_served_ensemble_and_nothing_else_left(studio, jobs, uploaded):
    identity = jobs.submit(uploaded(), Reading(), plan(), "ward", session="s1")
    assert jobs.statuses()[0].id == identity
    assert jobs.wait(120)
    (status,) = jobs.statuses()
    assert (status.id, status.state, status.share, status.sentence) == (identity, "done", 1.0, "")
    assert [curve.adapter for curve in status.curves] == ["part-01", "part-02"]
    assert all(curve.points for curve in status.curves)
    assert [report.name for report in status.reports] == ["part-01", "part-02"]
    kept = [path for path in left_behind(studio.settings) if "/ensembles/ward/" not in path]
    assert kept == []
    assert jobs.waiting() is None
    served = studio.served("ward")
    assert served.open_budget(studio.ledger).used == 0
    (event,) = studio.store.log.events(panel="corpora")
    assert (event.session, event.action, event.outcome, event.corpus) == ("s1", "train", "done", "ward")
    assert event.text is None


def test_a_second_training_is_refused_while_one_runs(jobs, uploaded):
    identity = jobs.submit(uploaded(), Reading(), LONG, "ward")
    other = uploaded(notes(12, topic="went home after a quiet night"), "other.jsonl")
    with pytest.raises(InputError, match="'ward' is being trained, and one training runs at a time"):
        jobs.submit(other, Reading(), plan(), "other")
    with pytest.raises(InputError, match="Stop it first"):
        jobs.discard(identity)
    with pytest.raises(InputError, match="not running"):
        jobs.cancel("another id")
    jobs.cancel(identity)
    assert jobs.wait(120)
    with pytest.raises(InputError, match="unfinished: continue or discard"):
        jobs.submit(other, Reading(), plan(), "other")
    assert jobs.discard(identity) == "ward"
    jobs.submit(other, Reading(), plan(), "other")
    assert jobs.wait(120)
    assert jobs.statuses()[0].state == "done"


def test_a_stopped_training_that_is_discarded_leaves_nothing(studio, jobs, uploaded, monkeypatch):
    stop_at(monkeypatch, 0.3)
    identity = jobs.submit(uploaded(), Reading(), plan(), "ward")
    assert jobs.wait(120)
    (status,) = jobs.statuses()
    assert status.state == "cancelled"
    assert status.kept
    assert 0.3 < status.share < 0.9
    assert status.curves[0].points
    assert studio.ledger.budget("ward") is None
    jobs.discard(identity)
    assert left_behind(studio.settings) == []
    assert jobs.statuses() == ()
    with pytest.raises(InputError, match="no such unfinished"):
        jobs.discard(identity)


def test_a_stopped_training_goes_on_to_the_same_weights(tiny_settings, tmp_path, monkeypatch, undisturbed):
    studio = Studio(same_key(tiny_settings))
    jobs = studio.jobs
    with monkeypatch.context() as patch:
        stop_at(patch, 0.4)
        identity = jobs.submit(jobs.take(write_notes(tmp_path / "a.jsonl")), Reading(), plan(), "ward")
        assert jobs.wait(120)
    reached = len(jobs.statuses()[0].curves[0].points)
    jobs.resume(identity)
    assert jobs.wait(120)
    (status,) = jobs.statuses()
    assert status.state == "done"
    assert len(status.curves[0].points) > reached  # the curve goes on from where it was
    assert weights(studio) == undisturbed
    jobs.close()


def test_an_orderly_end_of_the_server_keeps_what_was_reached(tiny_settings, tmp_path, uploaded, jobs):
    jobs.submit(uploaded(), Reading(), LONG, "ward")
    while not jobs.statuses()[0].curves:
        time.sleep(0.01)
    jobs.close()
    after = Studio(tiny_settings)
    (status,) = after.jobs.statuses()
    assert (status.state, status.kept) == ("interrupted", True)
    assert 0.0 < status.share < 1.0
    after.jobs.discard(status.id)
    after.jobs.close()
    assert left_behind(tiny_settings) == []


def process(mode: str, settings: Settings, text: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.core.curator.worker", mode]
    arguments = [str(settings.data_dir), settings.model, str(text)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_killed_training_is_found_and_goes_on_to_the_same_weights(tiny_settings, tmp_path, undisturbed):
    same_key(tiny_settings)
    killed = process("kill", tiny_settings, write_notes(tmp_path / "a.jsonl"))
    assert killed.returncode == -9, killed.stderr
    studio = Studio(tiny_settings)
    (status,) = studio.jobs.statuses()
    assert (status.name, status.state, status.kept) == ("ward", "interrupted", True)
    assert studio.jobs.waiting() is None  # its text is not one that waits
    assert [entry.name for entry in studio.ensembles() if not entry.shipped] == []
    studio.jobs.resume(status.id)
    assert studio.jobs.wait(120)
    assert studio.jobs.statuses()[0].state == "done"
    assert weights(studio) == undisturbed
    studio.jobs.close()


def test_a_full_disk_is_a_sentence_and_the_training_goes_on_when_there_is_room(
    tiny_settings, tmp_path, undisturbed
):
    same_key(tiny_settings)
    ended = process("full", tiny_settings, write_notes(tmp_path / "a.jsonl"))
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["sentence"].startswith("The disk is full. Make room, then continue")
    studio = Studio(tiny_settings)
    (status,) = studio.jobs.statuses()
    assert status.kept
    studio.jobs.resume(status.id)
    assert studio.jobs.wait(120)
    assert weights(studio) == undisturbed
    studio.jobs.close()


def test_a_plan_that_the_model_cannot_carry_fails_and_the_text_waits_on(studio, jobs, uploaded):
    upload = uploaded()
    shape = plan().training.shape.__class__(layers=99, rank=2)
    wrong = plan(training=plan().training.__class__(**{**vars(plan().training), "shape": shape}))
    jobs.submit(upload, Reading(), wrong, "ward")
    assert jobs.wait(120)
    (status,) = jobs.statuses()
    assert (status.state, status.kept) == ("failed", False)
    assert "99 cannot carry adapters" in status.sentence
    assert jobs.waiting() == upload
    assert not (studio.settings.data_dir / "training" / "ward").exists()
    jobs.submit(upload, Reading(), plan(), "ward")
    assert jobs.wait(120)
    assert jobs.statuses()[0].state == "done"


def test_a_text_that_was_uploaded_later_replaces_the_one_that_waits(jobs, uploaded):
    first = uploaded(name="first.jsonl")
    second = uploaded(name="second.jsonl")
    assert jobs.waiting() == second
    assert not first.path.exists()


def test_what_is_left_unfinished_for_too_long_is_deleted_with_its_text(studio, jobs, uploaded, monkeypatch):
    stop_at(monkeypatch, 0.3)
    jobs.submit(uploaded(), Reading(), plan(), "ward")
    assert jobs.wait(120)
    folder = studio.settings.data_dir / "training" / "ward"
    for days, kept in ((UNFINISHED_DAYS - 1, True), (UNFINISHED_DAYS + 1, False)):
        then = time.time() - days * 86_400
        for path in (*folder.iterdir(), *(studio.settings.data_dir / "uploads").iterdir()):
            os.utime(path, (then, then))
        jobs.sweep()
        assert bool(left_behind(studio.settings)) is kept


def test_what_a_crash_left_of_saving_an_ensemble_is_deleted_after_a_day(studio, jobs):
    ensembles = studio.settings.data_dir / "ensembles"
    for name in (".ward-1", ".ward-2", "ward"):
        (ensembles / name / "new").mkdir(parents=True)
    for name in (".ward-1", "ward"):
        os.utime(ensembles / name, (0, 0))
    jobs.sweep()
    assert sorted(path.name for path in ensembles.iterdir()) == [".ward-2", "ward"]


def test_without_a_trusted_ledger_nothing_is_trained(tiny_settings, tmp_path):
    blocked = Settings(_env_file=None, data_dir=tmp_path / "d", model=tiny_settings.model)
    blocked.data_dir.mkdir()
    (blocked.data_dir / "studio.db").mkdir()
    studio = Studio(blocked)
    upload = studio.jobs.take(write_notes(tmp_path / "a.jsonl"))
    with pytest.raises(Exception, match="cannot be opened"):
        studio.jobs.submit(upload, Reading(), plan(), "ward")
    studio.jobs.close()


def test_an_unexpected_error_is_named_by_its_kind_and_not_by_its_content():
    assert sentence_of(ValueError("the patient's name is Orlando")).count("Orlando") == 0
    assert "ValueError" in sentence_of(ValueError("x"))
    assert "memory" in sentence_of(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))


def test_a_curve_is_thinned_to_means_of_equal_stretches():
    assert thinned([]) == ()
    assert thinned([3.0, 1.0]) == ((1.0, 3.0), (2.0, 1.0))
    assert thinned([1.0, 3.0, 5.0, 7.0, 9.0], points=2) == ((3.0, 3.0), (5.0, 8.0))
    assert len(thinned([0.0] * 10_001)) <= 60
