"""From a corpus to answers under a budget, on a tiny real model; also through the command line."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.corpus import Corpus, Document
from core.ensembles import Plan, ServedEnsemble, train_ensemble
from core.errors import InputError
from core.lm.finetune import TrainingSettings
from core.lm.public import load_public
from core.lm.stack import LoraShape
from core.predict import Decoding
from core.predict.generate import stream_private
from core.settings import Settings
from core.store import open_store

TRAINING = TrainingSettings(shape=LoraShape(layers=2, rank=2), passes=1, batch=2, length=16)
PLAN = Plan(parts=3, queries=32, training=TRAINING)
KEY = b"k" * 32


@pytest.fixture(scope="module")
def public(tiny_llama):
    return load_public(str(tiny_llama), Settings(_env_file=None))


def corpus(synthetic=True, users=24) -> Corpus:
    documents = tuple(
        Document(f"user-{number}", f"Note {number}: the patient slept well and ate soup.", "notes", number)
        for number in range(users)
    )
    return Corpus("notes", documents, synthetic=synthetic)


@pytest.fixture(scope="module")
def folder(public, tmp_path_factory):
    path = tmp_path_factory.mktemp("ensembles") / "notes"
    train_ensemble(corpus(), public, replace(PLAN, whole_passes=1), path, key=KEY)
    return path


def test_a_trained_ensemble_answers_under_its_budget(folder, public, settings):
    served = ServedEnsemble(folder, public)
    assert served.parts == ("part-01", "part-02", "part-03")
    with open_store(settings) as store:
        stream = stream_private(
            public,
            served.decoder(),
            served.account(store.ledger),
            "The patient",
            Decoding(),
            length=5,
            limits=settings,
        )
        drawn = list(stream)
        budget = store.ledger.budget("notes")
    assert budget.used == len(drawn)
    assert budget.parts == 3
    assert min(budget.remaining) < 2.0


def test_the_whole_adapter_is_not_among_the_parts_and_only_for_synthetic_corpora(folder, public, tmp_path):
    served = ServedEnsemble(folder, public)
    assert served.decoder().start([5, 6]).shape[0] == 4  # public and three parts
    assert served.unprotected_decoder().start([5, 6]).shape[0] == 2
    with pytest.raises(InputError, match="synthetic"):
        train_ensemble(
            corpus(synthetic=False), public, replace(PLAN, whole_passes=1), tmp_path / "x", key=KEY
        )


def test_the_manifest_names_model_partition_settings_and_budget(folder, public):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["base_digest"] == public.digest
    assert manifest["partition"]["k"] == 3
    assert manifest["budget"] == {
        "epsilon": 2.0, "alpha": 2.0, "queries": 32, "protocol": "strict", "w_max": 0.5,
        "allowance": "banked",
    }  # fmt: skip
    assert KEY.hex() not in (folder / "manifest.json").read_text()


def test_training_again_keeps_every_user_in_their_part(folder, public):
    with pytest.raises(InputError, match="another split would move users"):
        train_ensemble(corpus(), public, replace(PLAN, parts=2), folder, key=KEY)
    with pytest.raises(InputError, match="another split would move users"):
        train_ensemble(corpus(), public, PLAN, folder, key=b"x" * 32)


def test_training_again_does_not_give_the_budget_back(folder, public, settings):
    with open_store(settings) as store:
        ServedEnsemble(folder, public).open_budget(store.ledger)
        store.ledger.debit("notes", [0.5, 0.5, 0.5])
        train_ensemble(corpus(), public, replace(PLAN, whole_passes=1), folder, key=KEY)
        assert ServedEnsemble(folder, public).open_budget(store.ledger).remaining == (1.5, 1.5, 1.5)


def test_submix_reads_two_halves_of_each_part(public, tmp_path, settings):
    plan = replace(PLAN, parts=2, halves=True, protocol="submix")
    train_ensemble(corpus(), public, plan, tmp_path / "halves", key=KEY)
    served = ServedEnsemble(tmp_path / "halves", public)
    assert served.parts == ("part-01a", "part-01b", "part-02a", "part-02b")
    with open_store(settings) as store:
        account = served.account(store.ledger)
        stream = stream_private(
            public, served.decoder(), account, "The patient", Decoding(), length=3, limits=settings
        )
        assert len(list(stream)) == store.ledger.budget("notes").used
    with pytest.raises(InputError, match="halves"):
        Plan(protocol="submix", halves=False)


def test_train_generate_and_budget_from_the_shell(tiny_llama, tmp_path, monkeypatch):
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUBMIX_MODEL", str(tiny_llama))
    rows = [{"user": f"u{n}", "text": f"Note {n}: the patient slept well."} for n in range(40)]
    path = tmp_path / "ward.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = CliRunner()
    train = ["train", str(path), "--parts", "2", "--passes", "1", "--layers", "2"]
    trained = run.invoke(app, train, catch_exceptions=False)
    assert trained.exit_code == 0, trained.output
    made = run.invoke(app, ["generate", "ward", "--prompt", "Note", "--length", "4"], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    shown = run.invoke(app, ["budget", "ward"], catch_exceptions=False)
    assert "queries used" in shown.output
    assert "(epsilon, delta): 12.1266" in shown.output
    assert "0 of 1,024" not in shown.output
