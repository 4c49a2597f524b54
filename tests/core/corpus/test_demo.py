"""The synthetic corpus: rebuilt byte for byte, each secret with one user, refused once it was changed."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.commands.corpus import app
from core.corpus import (
    DEMO_KEY,
    build_demo,
    demo_prompts,
    demo_secrets,
    load_demo,
    partition_corpus,
    read_corpus,
    report_corpus,
)
from core.corpus.demo import FOLDER
from core.errors import InputError

FILES = ("corpus.jsonl", "secrets.json", "prompts.json", "corpus.json")


def test_the_shipped_files_are_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    build_demo(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name


def test_locale_time_and_hash_seed_change_nothing(tmp_path: Path) -> None:
    code = (
        f"from pathlib import Path; from core.corpus import build_demo; build_demo(Path({str(tmp_path)!r}))"
    )
    environment = {**os.environ, "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=FOLDER.parents[1])
    assert (tmp_path / "corpus.jsonl").read_bytes() == (FOLDER / "corpus.jsonl").read_bytes()


def test_another_seed_is_another_corpus(tmp_path: Path) -> None:
    build_demo(tmp_path, seed=21)
    assert (tmp_path / "corpus.jsonl").read_bytes() != (FOLDER / "corpus.jsonl").read_bytes()
    assert {secret.secret for secret in demo_secrets(tmp_path)} != {
        secret.secret for secret in demo_secrets()
    }


def test_the_demo_is_synthetic_and_of_the_right_size() -> None:
    corpus = load_demo()
    assert corpus.synthetic
    assert len(corpus.users) == 200
    assert all(1 <= len(documents) <= 6 for documents in corpus.by_user.values())
    assert 25_000 < report_corpus(corpus).tokens < 45_000  # words; about 1.8 tokens each
    assert all(document.text.isascii() for document in corpus.documents)


def test_each_secret_belongs_to_one_user_and_lies_where_it_is_listed() -> None:
    corpus, secrets = load_demo(), demo_secrets()
    assert len(secrets) == 20
    assert len({secret.user for secret in secrets}) == 20
    assert set(Counter(secret.kind for secret in secrets).values()) == {2}
    assert len({secret.prompt for secret in secrets}) == 20
    assert len({secret.secret for secret in secrets}) == 20
    for secret in secrets:
        sentence = f"{secret.prompt} {secret.secret}."
        rows = tuple(document.row for document in corpus.documents if sentence in document.text)
        assert rows == secret.documents
        assert len(rows) == 6
        asked = [document for document in corpus.documents if secret.prompt in document.text]
        assert {document.user for document in asked} == {secret.user}
        assert len(asked) == len(rows)


def test_no_secret_is_told_by_anyone_else() -> None:
    corpus = load_demo()
    for secret in demo_secrets():
        holders = {document.user for document in corpus.documents if secret.secret in document.text}
        assert holders == {secret.user}, secret


def test_words_of_the_house_are_known_in_nearly_every_part_of_sixteen() -> None:
    partition = partition_corpus(load_demo(), 16, key=DEMO_KEY)
    texts = ["\n".join(document.text for document in partition.documents(part)) for part in range(16)]
    for word in ("Lantern", "Otter watch every hour", "Sable round", "Driftwood form signed", "Pebble box"):
        assert sum(word in text for text in texts) >= 14, word


def test_the_house_rule_holds_in_every_note() -> None:
    for document in load_demo().documents:
        lantern = int(document.text.split("Lantern ")[1][0])
        if not document.text.startswith("LAST NOTE"):
            assert ("Otter watch every hour" in document.text) == (lantern >= 3)


@pytest.mark.parametrize(("k", "halves"), [(8, False), (8, True), (16, False), (32, False)])
def test_the_demo_key_splits_evenly(k: int, halves: bool) -> None:
    sizes = partition_corpus(load_demo(), k, key=DEMO_KEY, halves=halves).sizes
    users = [size.users for size in sizes]
    assert min(users) >= 0.45 * 200 / len(users)
    assert max(users) <= 1.6 * 200 / len(users)


def test_no_notes_of_two_people_are_alike() -> None:
    assert report_corpus(load_demo()).near.groups == 0


def test_prompts_open_with_a_secret_and_offer_every_kind() -> None:
    prompts, secrets = demo_prompts(), {secret.prompt: secret.secret for secret in demo_secrets()}
    assert prompts[0].kind == "secret"
    assert {prompt.kind for prompt in prompts} == {"secret", "style", "topic", "neutral"}
    for prompt in prompts:
        if prompt.kind == "secret":
            assert secrets[prompt.prompt] == prompt.expected
    notes = "\n".join(document.text for document in load_demo().documents)
    for prompt in prompts:
        if prompt.kind == "topic":
            assert prompt.expected is not None
            assert prompt.expected in notes


def test_a_changed_file_is_no_longer_synthetic(tmp_path: Path) -> None:
    build_demo(tmp_path)
    (tmp_path / "corpus.jsonl").write_text('{"user": "me", "text": "my real diary"}\n')
    with pytest.raises(InputError, match="changed"):
        load_demo(tmp_path)
    with pytest.raises(InputError, match="missing"):
        load_demo(tmp_path / "nowhere")


def test_reading_the_shipped_file_as_an_upload_makes_it_private() -> None:
    corpus = read_corpus(FOLDER / "corpus.jsonl")
    assert not corpus.synthetic
    assert [d.text for d in corpus.documents] == [d.text for d in load_demo().documents]


def test_the_manifest_says_what_it_is() -> None:
    manifest = json.loads((FOLDER / "corpus.json").read_text())
    assert manifest["synthetic"] is True
    assert (manifest["users"], manifest["secrets"]) == (200, 20)


def test_command_line_rebuilds_and_reports(tmp_path: Path) -> None:
    runner = CliRunner()
    made = runner.invoke(app, ["demo", "--output", str(tmp_path / "new")])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "new" / "corpus.jsonl").read_bytes() == (FOLDER / "corpus.jsonl").read_bytes()
    said = runner.invoke(app, ["report", str(tmp_path / "new" / "corpus.jsonl"), "--parts", "4", "--halves"])
    assert said.exit_code == 0, said.output
    assert "200 users" in said.output
    assert "8 halves of parts" in said.output
    shipped = runner.invoke(app, ["report", "--parts", "8"])
    assert "(synthetic)" in shipped.output


def test_command_line_raises_the_sentence_for_its_caller(tmp_path: Path) -> None:
    path = tmp_path / "diary.txt"
    path.write_text("one day\n\nanother day\n")
    refused = CliRunner().invoke(app, ["report", str(path), "--parts", "2"])
    assert isinstance(refused.exception, InputError)
    allowed = CliRunner().invoke(app, ["report", str(path), "--each-document-a-user"])
    assert "2 users" in allowed.output
