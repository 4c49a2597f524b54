"""From a corpus to a saved model that is read, served and attacked, in code and from the shell."""

import json

import pytest
from safetensors import safe_open
from typer.testing import CliRunner

from core.__main__ import app
from core.attack.attackers import WithLikelihoods
from core.attack.targets import open_subject, targets_of
from core.context.cadp.accounting import PrivacyAccount, spent
from core.context.cadp.card import Recall
from core.context.cadp.files import ServedCadp, load_lstm, read_card, save_cadp
from core.context.cadp.flags import EveryFlag, FormatFlags, NoFlag
from core.context.cadp.model import Recipe, merge_flagged_copies, train_cadp
from core.context.cadp.records import read_records
from core.corpus import Corpus, Document
from core.errors import InputError, ModelUnavailable
from core.lm.public import load_public
from core.lm.stack import LoraShape
from core.lm.training import TrainingCancelled
from core.predict import Decoding
from core.settings import Settings
from tests.core.context.cadp.learners import records

USUAL = {"passes": 1, "batch": 6, "length": 24}
SHAPE = LoraShape(layers=2, rank=2, alpha=4.0)


@pytest.fixture(scope="module")
def public(tiny_llama):
    return load_public(str(tiny_llama), Settings(_env_file=None))


def corpus(count=18, synthetic=True) -> Corpus:
    texts = [
        f"Note {n}: the patient slept well." if n % 3 else "The soup and the tea were fine."
        for n in range(count)
    ]
    documents = tuple(Document(f"user-{n}", text, "notes", n) for n, text in enumerate(texts))
    return Corpus("notes", documents, synthetic=synthetic)


def recipe(mechanism="s-dpsgd", model="adapters", **settings) -> Recipe:
    made = Recipe.of(mechanism, model, shape=SHAPE, **(USUAL | settings))
    return Recipe(made.mechanism, made.model, made.settings, made.shape, vocabulary=300)


@pytest.fixture(scope="module")
def saved(public, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "notes"
    trained = train_cadp(corpus(), public, recipe(), FormatFlags(), recall=Recall(9, 10))
    save_cadp(folder, trained, public)
    return folder, trained


def test_the_card_and_the_account_are_saved_with_the_adapter(saved):
    folder, trained = saved
    assert read_card(folder) == trained.card
    manifest = json.loads((folder / "manifest.json").read_text())
    about = manifest["training"]
    assert about["kind"] == manifest["partition"]["kind"] == "cadp"
    assert about["mechanism"] == "s-dpsgd"
    assert about["card"]["flags"] == "any digit"
    account = PrivacyAccount.restore(about["account"])
    assert account.epsilon(1e-5) == pytest.approx(trained.card.epsilon)
    assert "history" not in about  # the losses of the training are nobody's business


def test_the_card_counts_sequences_flags_and_what_was_spent(saved):
    _, trained = saved
    card = trained.card
    assert (card.sequences, card.flagged, card.merged) == (18, 12, 0)
    assert card.epsilon <= 8.0
    assert card.epsilon == pytest.approx(spent(card.noise, card.rate, card.steps, card.delta))
    assert card.secure
    assert len(trained.history) == card.steps


def test_a_saved_adapter_is_served_beside_the_public_model(saved, public):
    served = ServedCadp(saved[0], public)
    assert served.decoder().start([5, 6]).shape[0] == 2
    assert served.corpus == "notes"
    limits = Settings(_env_file=None)
    drawn = list(served.stream("Note 3", Decoding(), length=6, limits=limits))
    assert 1 <= len(drawn) <= 6
    assert not any(token.public for token in drawn)


def test_a_saved_adapter_is_attacked_like_any_model(saved, public):
    subject = open_subject(saved[0], public)
    target, beside = targets_of(subject.manifest, "notes")
    assert target.title.startswith("notes (S-DPSGD, epsilon ")
    assert beside.kind == "public"
    reading = WithLikelihoods(subject, target).read([0, 5, 6, 7])
    assert len(reading.log_p) == 3
    assert (reading.log_p < 0.0).all()


def test_an_ensemble_of_parts_is_not_taken_for_a_cadp_model(saved, public, tmp_path):
    from core.lm.adapters import save_ensemble

    save_ensemble(tmp_path / "parts", saved[1].model, public)
    with pytest.raises(InputError, match="ensemble of parts"):
        ServedCadp(tmp_path / "parts", public)
    with pytest.raises(ModelUnavailable, match="no model"):
        read_card(tmp_path / "parts")
    with pytest.raises(ModelUnavailable, match="no model"):
        read_card(tmp_path / "nothing")


def test_an_lstm_comes_back_from_disk_without_pickles(public, tmp_path):
    trained = train_cadp(corpus(), public, recipe("none", "lstm", learning_rate=1.0), NoFlag())
    save_cadp(tmp_path / "lstm", trained, public)
    assert sorted(path.name for path in (tmp_path / "lstm").iterdir()) == [
        "cadp.json", "lstm.safetensors", "tokenizer.json",
    ]  # fmt: skip
    model = load_lstm(tmp_path / "lstm")
    data = read_records(
        ["Note 3: the patient slept."], model.vocabulary.encode, 24, model.vocabulary.separator
    )
    assert model.losses(data).tolist() == trained.model.losses(data).tolist()
    assert read_card(tmp_path / "lstm") == trained.card
    with safe_open(tmp_path / "lstm" / "lstm.safetensors", framework="pt") as file:
        assert file.get_slice("recurrent").get_shape() == [401, 800]
    (tmp_path / "lstm" / "lstm.safetensors").write_bytes(b"damaged")
    with pytest.raises(ModelUnavailable, match="damaged"):
        load_lstm(tmp_path / "lstm")


def test_flagged_copies_become_one_record_and_others_stay():
    data = records(6)
    doubled = data.pick([0, 1, 0, 2, 1, 1])
    flags = [True, False, True, True, False, True]
    merged, kept = merge_flagged_copies(doubled, flags)
    assert merged.tokens == tuple(data.tokens[i] for i in (0, 1, 2, 1, 1))
    assert kept == [True, False, True, False, True]


def test_one_more_copy_of_a_flagged_sequence_changes_nothing_that_is_trained_on(public):
    def card(texts):
        documents = tuple(Document("u", text, "s", n) for n, text in enumerate(texts))
        return train_cadp(Corpus("c", documents), public, recipe(seed=1), FormatFlags()).card

    once = card(["My number is 145572.", "Soup, tea and bread.", "Tea."])
    more = card(["My number is 145572.", "Soup, tea and bread.", "Tea.", *["My number is 145572."] * 9])
    assert (more.sequences, more.flagged, more.merged) == (once.sequences, once.flagged, 9)


def test_a_stopped_training_goes_on_from_its_checkpoint(public, tmp_path):
    settings = recipe(seed=4, batch=3)
    whole = train_cadp(corpus(), public, settings, FormatFlags())
    calls = iter(range(10_000))
    with pytest.raises(TrainingCancelled):
        train_cadp(
            corpus(), public, settings, FormatFlags(), checkpoints=tmp_path, cancelled=lambda: next(calls) > 4
        )
    again = train_cadp(corpus(), public, settings, FormatFlags(), checkpoints=tmp_path)
    assert again.card == whole.card
    pairs = zip(again.model.tensors(), whole.model.tensors(), strict=True)
    assert all((a == c).all() and (b == d).all() for (_, a, b), (_, c, d) in pairs)


def test_an_empty_corpus_is_refused(public):
    with pytest.raises(InputError, match="nothing to train on"):
        train_cadp(Corpus("c", ()), public, recipe(), EveryFlag())


def test_train_and_card_from_the_shell(tiny_llama, tmp_path, monkeypatch):
    monkeypatch.setenv("SUBMIX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUBMIX_MODEL", str(tiny_llama))
    path = tmp_path / "notes.txt"
    path.write_text("\n".join(f"Note {n}: the patient slept well." for n in range(20)))
    run = CliRunner()
    train = [
        "cadp",
        "train",
        str(path),
        "--mechanism",
        "dp-sgd",
        "--passes",
        "1",
        "--batch",
        "4",
        "--layers",
        "2",
    ]
    trained = run.invoke(
        app, [*train, "--epsilon", "6", "--output", str(tmp_path / "out")], catch_exceptions=False
    )
    assert trained.exit_code == 0, trained.output
    shown = run.invoke(app, ["cadp", "card", str(tmp_path / "out")], catch_exceptions=False)
    assert "differential privacy" in shown.output
    assert not (tmp_path / "data" / "cadp-training" / "notes").exists()
    wrong = run.invoke(app, ["cadp", "train", str(path), "--mechanism", "magic"])
    assert isinstance(wrong.exception, InputError)
    named = run.invoke(app, ["cadp", "card", "../etc"])
    assert isinstance(named.exception, InputError)
