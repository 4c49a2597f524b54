from pathlib import Path

import pytest

from core.errors import InputError
from core.settings import Settings, load_settings, settings_table

README = Path(__file__).resolve().parents[2] / "README.md"


def test_environment_variables_and_env_file_are_read(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("SUBMIX_PORT=7999\nSUBMIX_HOST=127.0.0.2\n")
    monkeypatch.setenv("SUBMIX_PORT", "8001")
    settings = load_settings()
    assert settings.port == 8001  # the environment wins over the file
    assert settings.host == "127.0.0.2"


def test_a_wrong_value_is_one_sentence_that_names_the_variable(monkeypatch):
    monkeypatch.setenv("SUBMIX_PORT", "seventy")
    with pytest.raises(InputError, match=r"^SUBMIX_PORT is not usable"):
        load_settings()


def test_the_password_is_not_shown_when_settings_are_printed(monkeypatch):
    monkeypatch.setenv("SUBMIX_CURATOR_PASSWORD", "open sesame")
    assert "open sesame" not in repr(load_settings())


def test_every_setting_is_described():
    assert all(field.description for field in Settings.model_fields.values())


def test_the_readme_has_the_table_of_settings_as_generated():
    assert settings_table() in README.read_text(encoding="utf-8")


def test_a_space_says_where_to_listen_unless_it_was_set(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    assert Settings(_env_file=None).listens == "127.0.0.1"
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    assert Settings(_env_file=None).listens == "0.0.0.0"
    assert Settings(_env_file=None, host="127.0.0.2").listens == "127.0.0.2"
